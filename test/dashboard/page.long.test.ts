import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { generateCluster } from './generated-cluster.ts';
import { BROWSER_TIMEOUT_MS, hasBrowser, openPages, type Pages, violations } from './pages.ts';
import { eventually } from '#test/build/waiting.ts';

const PAGES = [
  '#/nodes',
  '#/nodes/node-009',
  '#/nodes/no-such-node',
  '#/load',
  '#/load?resource=cpu',
  '#/queues',
  '#/timeline',
  '#/preemptions',
  '#/priorities',
  '#/namespaces',
  '#/namespaces/team-1',
  '#/pods/team-1/train-7',
  '#/pods/team-2/worker-9-2',
  '#/no-such-page',
  '#/policies',
  '#/what-if?ask=pressure&node=node-009&available=400Mi&threshold=1Gi',
  '#/what-if?ask=pod&node=node-009&cpu=1&priorityClass=critical',
];
const SCREENS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 400],
  ['dark', 400],
] as const;
const needsToken: Admit = ({ headers }) =>
  headers.authorization === 'Bearer good'
    ? admitAll({} as never)
    : Promise.resolve({ kind: 'refused', status: 401, message: 'credentials are missing' });

describe.runIf(hasBrowser)(
  'the page in Chromium (package chromium-headless-shell)',
  { timeout: BROWSER_TIMEOUT_MS },
  () => {
    const cluster = generateCluster(30, Date.now());
    let pages: Pages;
    let open = '';
    let guarded = '';

    beforeAll(async () => {
      pages = await openPages();
      [open, guarded] = [await pages.serve(cluster.sources), await pages.serve(cluster.sources, { admit: needsToken })];
    }, BROWSER_TIMEOUT_MS);
    afterAll(() => pages.close());

    test.each(SCREENS)(
      '%s, %d px wide: every page is accessible, fits, and asks no other host',
      { timeout: 2 * BROWSER_TIMEOUT_MS },
      async (colorScheme, width) => {
        for (const hash of PAGES) {
          const { page, faults, hosts, end } = await pages.visit(`${open}/${hash}`, { colorScheme, width });
          await page.getByText('Deciding…').waitFor({ state: 'detached' });
          expect([hash, await violations(page)]).toEqual([hash, []]);
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect([hash, overflow, faults, [...hosts]]).toEqual([hash, 0, [], [new URL(open).host]]);
          await end();
        }
      },
    );

    test('a hard threshold stands first, then a soft one, then nodes that enforce; a positive condition is no warning; a change is shown', async () => {
      const { page, end } = await pages.visit(`${open}/#/nodes?text=node-01`);
      const rows = page.locator('.nodes tbody tr');
      const texts = (await rows.allInnerTexts()).filter((text) => text !== '');
      const words = ['Hard threshold met', 'Soft threshold met'];
      const states = texts.map((text) => words.findIndex((word) => text.includes(word))).map((at) => (at < 0 ? 2 : at));
      expect(states).toEqual(states.toSorted());
      expect([states[0], states.at(-1)]).toEqual([0, 2]);
      const modes = texts.filter((_, index) => states[index] === 2).map((text) => text.includes('dry run'));
      expect(modes).toEqual(modes.toSorted());
      expect([modes[0], modes.at(-1)]).toEqual([false, true]);
      await page.getByLabel('Text').fill('');
      expect(await page.locator('.nodes').getAttribute('aria-rowcount')).toBe('31');
      await page.getByLabel('Text').fill('sourcesagree');
      await page.getByText('1 of 30 nodes').waitFor();
      const text = await page.locator('body').innerText();
      expect(text).toContain('SourcesAgree');
      expect(text).not.toMatch(/PoliciesRead|AllRead/);
      await page.getByLabel('Text').fill('node-006');
      const before = await rows.first().innerText();
      cluster.change(Date.now() + 5, 1);
      await eventually(async () => expect(await rows.first().innerText()).not.toBe(before));
      await end();
    });

    test('by keyboard: skip to the content, filter, and open a node', async () => {
      const { page, end } = await pages.visit(`${open}/#/nodes`);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
      await page.getByLabel('Text').fill('node-009');
      expect(await page.locator('.nodes tbody tr').count()).toBe(1);
      await page.getByRole('link', { name: 'node-009' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'node-009', level: 1 }).waitFor();
      expect(await page.getByRole('img', { name: /^memory.available: .* threshold at 97 %/ }).count()).toBe(1);
      await end();
    });

    test('a description that looks like markup is shown as text', async () => {
      const { page, end } = await pages.visit(`${open}/#/priorities`);
      expect(await page.locator('body').innerText()).toContain('<b>Everything</b> else');
      await end();
    });

    test('takes the token that stands behind the address, and leaves it in no history', async () => {
      const { page, end } = await pages.visit(`${guarded}/#token=good`);
      await page.locator('.nodes tbody tr').first().waitFor();
      expect(page.url()).not.toContain('good');
      await end();
    });

    test('without a token it asks for one, and shows the cluster with it', async () => {
      const { page, end } = await pages.visit(guarded);
      expect(await page.locator('main').innerText()).toContain('credentials are missing');
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Token').fill('good');
      await page.keyboard.press('Enter');
      await page.locator('.nodes tbody tr').first().waitFor();
      await end();
    });
  },
);
