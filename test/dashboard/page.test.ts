import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import { dashboardApp } from '#dashboard/app.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { findChromium, startBrowser } from './browser.ts';
import { generateCluster } from './generated-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const PAGES = ['#/nodes', '#/nodes/node-009', '#/nodes/no-such-node', '#/queues', '#/timeline', '#/priorities'];
const SCREENS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 400],
  ['dark', 400],
] as const;
const TIMEOUT_MS = 60_000;

/** Where there is no Chromium this is said and not run; in CI that is a failure. */
const isRun = findChromium() !== undefined || process.env['CI'] !== undefined;
const needsToken: Admit = ({ headers }) =>
  headers.authorization === 'Bearer good'
    ? admitAll({} as never)
    : Promise.resolve({ kind: 'refused', status: 401, message: 'credentials are missing' });

describe.runIf(isRun)('the page in Chromium (package chromium-headless-shell)', { timeout: TIMEOUT_MS }, () => {
  const cluster = generateCluster(30, Date.now());
  const ending = new AbortController();
  const servers: Server[] = [];
  let browser: Browser;
  let open = '';
  let guarded = '';

  async function start(admit: Admit): Promise<string> {
    const { sources } = cluster;
    const handler = dashboardApp({ sources, admit, clock: systemClock, log, signal: ending.signal });
    const server = await serve({ handler, host: '127.0.0.1', port: 0, drainMs: 100 });
    servers.push(server);
    return server.url;
  }

  beforeAll(async () => {
    [browser, open, guarded] = await Promise.all([startBrowser(), start(admitAll), start(needsToken)]);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    ending.abort();
    await Promise.all(servers.map((server) => server.close()));
  });

  /** Opens a page; whatever it says of errors, and every host that it asks, is noted. */
  async function visit(address: string, [colorScheme, width]: (typeof SCREENS)[number] = SCREENS[0]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    const page = await context.newPage();
    const faults: string[] = [];
    const hosts = new Set<string>();
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto(address);
    await page.locator('.panel').first().waitFor();
    return { page, faults, hosts, end: () => context.close() };
  }

  async function violations(page: Page): Promise<readonly string[]> {
    // Through the debugger: the page's own policy lets no other script run.
    await page.evaluate(axe.source);
    const found = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''} ${nodes[0]?.failureSummary ?? ''}`);
  }

  test.each(SCREENS)(
    '%s, %d px wide: every page is accessible, fits, and asks no other host',
    async (scheme, width) => {
      for (const hash of PAGES) {
        const { page, faults, hosts, end } = await visit(`${open}/${hash}`, [
          scheme,
          width,
        ] as (typeof SCREENS)[number]);
        expect([hash, await violations(page)]).toEqual([hash, []]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect([hash, overflow, faults, [...hosts]]).toEqual([hash, 0, [], [new URL(open).host]]);
        await end();
      }
    },
  );

  test('nodes that enforce stand first, with the least headroom; a positive condition is no warning; a change is shown', async () => {
    const { page, end } = await visit(`${open}/#/nodes`);
    const rows = page.locator('.nodes tbody tr');
    expect(await rows.first().innerText()).toContain('Soft threshold met');
    const modes = (await rows.allInnerTexts()).filter((text) => text !== '').map((text) => text.includes('dry run'));
    expect(modes).toEqual(modes.toSorted());
    expect([modes[0], modes.at(-1)]).toEqual([false, true]);
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
    const { page, end } = await visit(`${open}/#/nodes`);
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
    const { page, end } = await visit(`${open}/#/priorities`);
    expect(await page.locator('body').innerText()).toContain('<b>Everything</b> else');
    await end();
  });

  test('takes the token that stands behind the address, and leaves it in no history', async () => {
    const { page, end } = await visit(`${guarded}/#token=good`);
    await page.locator('.nodes tbody tr').first().waitFor();
    expect(page.url()).not.toContain('good');
    await end();
  });

  test('without a token it asks for one, and shows the cluster with it', async () => {
    const { page, end } = await visit(guarded);
    expect(await page.locator('main').innerText()).toContain('credentials are missing');
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Token').fill('good');
    await page.keyboard.press('Enter');
    await page.locator('.nodes tbody tr').first().waitFor();
    await end();
  });
});
