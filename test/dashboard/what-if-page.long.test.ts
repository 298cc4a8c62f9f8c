import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { generateCluster } from './generated-cluster.ts';
import { BROWSER_TIMEOUT_MS, hasBrowser, openPages, type Pages, type Visit } from './pages.ts';

describe.runIf(hasBrowser)('policies and what-if, in Chromium', { timeout: BROWSER_TIMEOUT_MS }, () => {
  const cluster = generateCluster(30, Date.now());
  let pages: Pages;
  let open = '';
  let visit: Visit;

  async function show(hash: string) {
    visit = await pages.visit(`${open}/${hash}`);
    return visit.page;
  }

  beforeAll(async () => {
    pages = await openPages();
    open = await pages.serve(cluster.sources);
  }, BROWSER_TIMEOUT_MS);
  afterEach(() => visit.end());
  afterAll(() => pages.close());

  test('a policy says which nodes it governs, its thresholds, what it sets otherwise, and which agents differ', async () => {
    const page = await show('#/policies');
    const batch = page.getByRole('region', { name: 'batch', exact: true });
    const text = await batch.innerText();
    for (const part of [
      'Enforce',
      'order 10',
      'pool in (batch)',
      'Applies to 10 nodes',
      'Ready: Held',
      'Held by node-003',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/memory\.available\s+soft\s+10%\s+60 s\s+Dry run/);
    expect(text).toMatch(/limits\.perMinute\s+9\s+2/);
    const deviating = batch.getByRole('table', { name: 'Agents that report something else than batch' });
    expect(await deviating.getByRole('link').allInnerTexts()).toEqual([
      'node-003',
      'node-009',
      'node-015',
      'node-021',
      'node-027',
    ]);
    expect(await page.getByRole('region', { name: 'typo' }).innerText()).toContain('evictionHard');
    expect(await page.getByRole('region', { name: 'Nodes without a policy' }).innerText()).toContain('20 nodes');
    await batch.getByRole('link', { name: '10 nodes' }).click();
    await page.getByText('10 of 30 nodes').waitFor();
    expect(visit.faults).toEqual([]);
  });

  test('by keyboard: a higher threshold says who would be evicted and why, who stays, and the address says what was asked', async () => {
    const page = await show('#/what-if?node=node-009');
    const form = page.getByRole('form', { name: 'Which pods would be evicted?' });
    await form.getByLabel('Available (empty: as last reported)').fill('400Mi');
    await form.getByLabel('New threshold').fill('1Gi');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('node-009: team-0/worker-9-0 would be evicted first').waitFor();
    const text = await answer.innerText();
    expect(text).toContain('memory.available is 400Mi, below the hard threshold of 1Gi (severe)');
    expect(text).toMatch(/hard\s+1Gi\s+0 s\s+Dry run\s+yes/);
    expect(text).toMatch(/1\s+team-0\/worker-9-0\s+would be evicted\s+0\s+512Mi\s+212Mi\s+uses 512Mi memory/);
    expect(text).toMatch(/kube-system\/proxy\s+2,000,001,000\s+the pod has the system priority 2000001000/);
    expect(new URL(page.url()).hash).toBe(
      '#/what-if?node=node-009&signal=memory.available&available=400Mi&kind=hard&threshold=1Gi&ask=pressure',
    );
    expect(visit.faults).toEqual([]);
  });

  test('one more pod says who would be preempted for it', async () => {
    const page = await show('#/what-if?ask=pod&node=node-009&cpu=600m&memory=1Gi&priorityClass=critical');
    const victims = page.getByRole('table', { name: 'Pods that would be preempted' });
    expect(await victims.getByRole('row').allInnerTexts()).toHaveLength(3);
    expect(await victims.innerText()).toContain('team-0/worker-9-0');
    expect(await page.getByRole('region', { name: 'Answer' }).innerText()).toContain('priority 100,000 (critical)');
    expect(visit.faults).toEqual([]);
  });

  test.each([
    ['ask=pressure&node=node-009&available=400Mi&threshold=lots', 'threshold: '],
    ['ask=pod&node=no-such-node', 'node: "no-such-node" not found'],
    ['ask=pod&node=node-009&priorityClass=nope', 'priorityClass: no PriorityClass "nope"'],
  ])('%s is answered with what is wrong', async (query, problem) => {
    const page = await show(`#/what-if?${query}`);
    expect(await page.getByRole('alert').innerText()).toContain(problem);
  });
});
