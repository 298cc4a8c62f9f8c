import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { nodeWithoutAgent } from '#dashboard/views/node-view.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { aborted, eventually } from '#test/build/waiting.ts';
import { generateCluster } from './generated-cluster.ts';
import { BROWSER_TIMEOUT_MS, hasBrowser, openPages, type Pages, type Visit } from './pages.ts';

/** Nothing is sent that did not change: the stream falls silent. */
const NO_HEARTBEAT: Clock = { ...systemClock, sleep: (_ms, signal) => aborted(signal ?? new AbortController().signal) };

const UPDATES = 20;
const OBSERVE_LONG_TASKS =
  'globalThis.longTasks = 0; new PerformanceObserver((list) => (longTasks += list.getEntries().length)).observe({ type: "longtask" })';

describe.runIf(hasBrowser)('the views, in Chromium', { timeout: BROWSER_TIMEOUT_MS }, () => {
  const cluster = generateCluster(30, Date.now());
  let pages: Pages;
  let open = '';
  let visit: Visit;

  async function show(hash: string, from = open) {
    visit = await pages.visit(`${from}/${hash}`);
    return visit.page;
  }

  const namesIn = async (rows: Locator) => (await rows.getByRole('link').allInnerTexts()).slice(0, 4);

  const attributes = async (found: Locator, name: string) =>
    Promise.all((await found.all()).map((each) => each.getAttribute(name)));

  beforeAll(async () => {
    pages = await openPages();
    open = await pages.serve(cluster.sources);
  }, BROWSER_TIMEOUT_MS);
  afterEach(async () => {
    expect(visit.faults).toEqual([]);
    await visit.end();
  });
  afterAll(() => pages.close());

  test('queues are a tree with bars, what waits since when, and what is wrong', async () => {
    const page = await show('#/queues');
    expect(await page.locator('.queue h3').allInnerTexts()).toEqual(['root', 'research', 'training', 'web']);
    const research = page
      .locator('.queue')
      .filter({ has: page.getByRole('heading', { name: 'research', exact: true }) });
    const text = await research.innerText();
    for (const part of ['3 pods wait, the oldest for 12 min', 'ReclaimBlocked: BudgetSpent', 'weight 2'])
      expect(text).toContain(part);
    const bar = research.getByRole('img', {
      name: 'cpu: used 5, pending 3, guaranteed 4, deserved 8, maximum 10',
    });
    expect(await attributes(bar.locator('rect'), 'width')).toEqual(['1000', '500', '300']);
    expect(await attributes(bar.locator('line'), 'x1')).toEqual(['400', '800', '1000']);
    expect(await page.getByRole('table').innerText()).toContain('team-2/thumbnails');
    await page.getByRole('searchbox', { name: 'Queue' }).fill('web');
    expect(await page.locator('.queue h3').allInnerTexts()).toEqual(['web']);
  });

  test('the load of each node is a line with marks, the most idle first, below the sums of the cluster', async () => {
    const page = await show('#/load');
    const sums = page.getByRole('region', { name: 'Spare room of the cluster' });
    const [memory, cpu] = await sums.locator('tbody tr').allInnerTexts();
    expect([memory, cpu].map((text) => text?.split('\t'))).toEqual([
      ['Memory', '100Gi', '45Gi', '40Gi', '20Gi', '5Gi'],
      ['CPU, cores', '30', '25', '0', '0', '0'],
    ]);
    await page.getByText('10 nodes; 20 more do not measure spare room').waitFor();
    const lines = page.locator('.queue');
    expect((await namesIn(lines)).slice(0, 2)).toEqual(['node-000', 'node-003']);
    const bar = lines.first().getByRole('img', {
      name: 'node-000: of 16Gi, requested 10Gi, used 1Gi, p99 6Gi, lendable 4Gi, lent 4Gi, taken 1Gi',
    });
    expect(await attributes(bar.locator('rect'), 'width')).toEqual(['1000', '62.5', '250']);
    expect(await attributes(bar.locator('line'), 'x1')).toEqual(['375', '625', '312.5']);
    await page.getByLabel('Resource').selectOption('CPU');
    expect(await lines.first().innerText()).toContain('nothing is lent');
    await page.getByRole('searchbox', { name: 'Node' }).fill('node-02');
    expect(await namesIn(lines)).toEqual(['node-021', 'node-024', 'node-027']);
    expect(new URL(page.url()).hash).toBe('#/load?resource=cpu&text=node-02');
  });

  test('where no node measures spare room, the page of loads says what is missing', async () => {
    const from = await pages.serve({ ...cluster.sources, nodes: () => [nodeWithoutAgent('node-new')] });
    const page = await show('#/load', from);
    await page.getByText('no NodePressurePolicy with spec.spare is in force').waitFor();
  });

  test('a column sorts both ways, a tile and the fields filter, and the address says so', async () => {
    const page = await show('#/nodes');
    const rows = page.locator('.nodes tbody tr');
    await page.getByRole('button', { name: 'Node', exact: true }).click();
    expect(await namesIn(rows)).toEqual(['node-000', 'node-001', 'node-002', 'node-003']);
    await page.getByRole('button', { name: 'Node', exact: true }).click();
    expect(await namesIn(rows)).toEqual(['node-029', 'node-028', 'node-027', 'node-026']);
    expect(await page.getByRole('columnheader', { name: 'Node' }).getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('button', { name: /Hard threshold met/ }).click();
    await page.getByLabel('Mode').selectOption('DryRun');
    await page.getByLabel('Pod').fill('worker-19-');
    expect(await namesIn(rows)).toEqual(['node-019']);
    expect(new URL(page.url()).hash).toBe('#/nodes?sort=name&order=desc&state=Hard&mode=DryRun&pod=worker-19-');
  });

  test.each([
    ['state=Soft', ['node-006', 'node-016', 'node-026']],
    ['state=Soft,Hard&mode=Enforce', ['node-006', 'node-016', 'node-026']],
    ['pod=report-1', ['node-001']],
    ['namespace=no-such', []],
    ['text=node-01&state=Near', ['node-013']],
    ['evicting=true&sort=name', ['node-000', 'node-002']],
  ])('a link with %s opens what it says', async (query, names) => {
    const page = await show(`#/nodes?${query}`);
    expect(await namesIn(page.locator('.nodes tbody tr'))).toEqual(names);
  });

  test('a node without an agent is a state of its own, and its page says what is missing', async () => {
    const nodes = () => [...cluster.sources.nodes(0), nodeWithoutAgent('node-new')];
    const from = await pages.serve({ ...cluster.sources, nodes });
    const page = await show('#/nodes?state=NoAgent', from);
    expect(await page.getByRole('button', { name: /No agent/ }).innerText()).toContain('1');
    await page.getByRole('link', { name: 'node-new' }).click();
    await page.getByText('No agent has reported from this node').waitFor();
  });

  test('every page names the cluster, and times have date, zone and age', async () => {
    const page = await show('#/timeline');
    expect(await page.locator('#cluster').innerText()).toBe('prod-eu-1');
    expect(await page.title()).toBe('Timeline · prod-eu-1 · Plimsoll');
    for (const time of await page.locator('main time').allInnerTexts())
      expect(time).toMatch(/^\d+ \w+, \d\d:\d\d:\d\d (CET|CEST|GMT\+\d) \(.+ ago\)$/);
  });

  test('a preemption says who made room for whom, why, and what became of both', async () => {
    const page = await show('#/preemptions');
    const rows = await page.locator('tbody tr').allInnerTexts();
    expect(rows).toHaveLength(2);
    for (const part of [
      'team-1/batch-1',
      'team-1/web-9',
      'priority 100,000 (critical)',
      'placed on node-004',
      'batch-1-again',
    ])
      expect(rows[0]).toContain(part);
    // The record does not name a pod of another namespace.
    expect(rows[1]).toMatch(/team-2\/thumbnails-3[^]*a pod of another namespace/);
    expect(rows[1]).toContain('pod team-2/long opted out of preemption');
  });

  test('a quota says who holds it, and a policy what it allows', async () => {
    const page = await show('#/priorities');
    const holders = await page.getByRole('region', { name: 'Holders of critical-tier' }).innerText();
    for (const part of ['team-1', '1.5Ti requests.memory', 'team-1/web-7', 'plimsoll-webhook-0', '4 pods'])
      expect(holders).toContain(part);
    const policies = await page.getByRole('region', { name: 'Priority policies', exact: true }).innerText();
    expect(policies).toMatch(
      /teams\s+team in \(yes\)\s+everyone\s+standard, long-jobs; long-jobs for Job; standard for pods \(track in \(canary\)\); default standard\s+allowed\s+refused/,
    );
  });

  test('a namespace shows its pods in line, its share of quotas and what happened to it', async () => {
    const page = await show('#/namespaces');
    await page.getByRole('link', { name: 'team-2', exact: true }).click();
    const text = () => page.locator('main').innerText();
    await page.getByRole('heading', { name: 'Pods in line for eviction' }).waitFor();
    for (const part of ['team-2/worker-0-2', '300Gi requests.memory, 18 pods', 'team-2/thumbnails', '1 preempted'])
      expect(await text()).toContain(part);
    expect(await text()).not.toContain('team-1/');
  });

  test('focus and selection survive updates', async () => {
    const page = await show('#/nodes/node-009');
    const last = () => page.evaluate('performance.getEntriesByName("plimsoll:update").length');
    await page.getByRole('combobox', { name: 'Time' }).focus();
    await page.evaluate(
      'getSelection().selectAllChildren([...document.querySelectorAll("td")].find((each) => each.textContent.includes("worker-9-1")))',
    );
    const before = Number(await last());
    const reading = await page.locator('.signal p').first().innerText();
    for (let change = 1; change <= 3; change += 1) {
      cluster.change(Date.now() + change, 1);
      await eventually(async () => expect(Number(await last())).toBeGreaterThanOrEqual(before + change));
    }
    await eventually(async () => expect(await page.locator('.signal p').first().innerText()).not.toBe(reading));
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    expect(await page.evaluate('String(getSelection())')).toContain('worker-9-1');
  });

  test('what is shown is marked as old within ten seconds of silence', async () => {
    const from = await pages.serve(cluster.sources, { clock: NO_HEARTBEAT });
    const page = await show('#/nodes', from);
    const start = performance.now();
    expect(await page.locator('main.stale').count()).toBe(0);
    await page.getByText('no update: data is old').waitFor();
    expect(await page.locator('main.stale').count()).toBe(1);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe.runIf(hasBrowser)('1,000 nodes, in Chromium', { timeout: BROWSER_TIMEOUT_MS }, () => {
  const cluster = generateCluster(1_000, Date.now());
  let pages: Pages;

  beforeAll(async () => {
    pages = await openPages();
  }, BROWSER_TIMEOUT_MS);
  afterAll(() => pages.close());

  test('few rows are in the document, each update is shown, and what they took is measured', async () => {
    const { page, end } = await pages.visit(`${await pages.serve(cluster.sources)}/#/nodes`);
    await page.locator('.nodes tbody tr').first().waitFor();
    const firstRows = Number(await page.evaluate('performance.getEntriesByName("plimsoll:update")[0].startTime'));
    await page.evaluate(OBSERVE_LONG_TASKS);
    for (let change = 1; change <= UPDATES; change += 1) {
      const before = await page.evaluate('performance.getEntriesByName("plimsoll:update").length');
      cluster.change(Date.now() + change, 10);
      await eventually(async () =>
        expect(await page.evaluate('performance.getEntriesByName("plimsoll:update").length')).not.toBe(before),
      );
    }
    const measured = await page.evaluate<number[]>(
      'performance.getEntriesByName("plimsoll:update").map(({ duration }) => duration)',
    );
    const [first = 0, ...updates] = measured;
    const sorted = updates.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity;
    // Layout and paint included; a task of 50 ms or more is a long one.
    const longTasks = Number(await page.evaluate('longTasks'));
    console.log(
      JSON.stringify({ firstRowsMs: firstRows + first, updateMs: { median, most: sorted.at(-1) }, longTasks }),
    );
    expect(await page.locator('.nodes tbody tr').count()).toBeLessThan(60);
    await page.getByRole('region', { name: 'List of nodes' }).focus();
    await eventually(async () => {
      await page.keyboard.press('End');
      expect(await page.getByRole('link', { name: 'node-999' }).isVisible()).toBe(true);
    });
    await end();
  });
});
