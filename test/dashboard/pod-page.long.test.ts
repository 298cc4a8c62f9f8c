import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { type LivePages, startLivePages } from './live-pages.ts';
import { BROWSER_TIMEOUT_MS, hasBrowser, violations, type Visit } from './pages.ts';

const now = Date.now();
const time = (agoMs: number): string => new Date(now - agoMs).toISOString();
const WAITS = 'waits for 2 cpu: queue research is at its maximum 10';
const REFUSED = 'Error creating: exceeded quota: high-tier: requests.memory is limited to 2Ti; used 2Ti, requested 1Gi';
const CONTAINER = { name: 'web', image: 'web', resources: { requests: { cpu: '2' } } };

/** What happened to one pod, as its own process recorded it. */
function record(pod: string, cause: string, text: string): object {
  const because = { code: cause, text, facts: {} };
  const spec = { pod, podUID: `uid-${pod}`, priority: 10, node: 'node-1', cause, because, removedAt: time(MINUTE_MS) };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Disruption', metadata: { name: pod, namespace: 'shop' }, spec };
}

const CASES = [
  { pod: 'hog', from: 'Timeline', state: 'Removed', parts: ['was evicted from node node-1', 'uses 3Gi of memory'] },
  { pod: 'lent', from: 'Timeline', state: 'Removed', parts: ['was reclaimed from node node-1', 'queue research'] },
  { pod: 'moved', from: 'Timeline', state: 'Removed', parts: ['was moved off node node-1', 'node-2 is less used'] },
  { pod: 'api-5d', from: 'Timeline', state: 'Refused', parts: ['ReplicaSet api-5d', 'exceeded quota: high-tier'] },
  { pod: 'train', from: 'Queues', state: 'Waits', parts: [WAITS, 'research'] },
] as const;

describe.runIf(hasBrowser)('what happened to a pod, on its page', { timeout: 2 * BROWSER_TIMEOUT_MS }, () => {
  let live: LivePages;
  let visit: Visit;
  let address = '';

  async function create(path: string, body: object): Promise<void> {
    expect(await live.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  }

  async function createAll(): Promise<void> {
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const disruptions = '/apis/plimsoll.dev/v1alpha1/namespaces/shop/disruptions';
    await create(disruptions, record('hog', 'Eviction', 'uses 3Gi of memory, over its request of 1Gi'));
    await create(disruptions, record('lent', 'Reclaim', 'queue research is below its guarantee'));
    await create(disruptions, record('moved', 'Rescheduling', 'node-2 is less used'));
    await create('/apis/events.k8s.io/v1/namespaces/shop/events', {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'refused', namespace: 'shop' },
      reason: 'FailedCreate',
      note: REFUSED,
      type: 'Warning',
      action: 'Create',
      eventTime: time(0),
      reportingController: 'replicaset-controller',
      reportingInstance: 'controller-manager',
      regarding: { kind: 'ReplicaSet', apiVersion: 'apps/v1', namespace: 'shop', name: 'api-5d', uid: 'rs' },
    });
    const queue = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name: 'research' } };
    await create('/apis/plimsoll.dev/v1alpha1/queues', { ...queue, spec: { max: { cpu: '10' } } });
    const metadata = { name: 'train', namespace: 'shop', labels: { 'plimsoll.dev/queue': 'research' } };
    const spec = { containers: [CONTAINER], schedulingGates: [{ name: 'plimsoll.dev/queue' }] };
    await create('/api/v1/namespaces/shop/pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    const condition = { type: 'plimsoll.dev/WaitsInQueue', status: 'True', reason: 'AtMaximum', message: WAITS };
    const path = '/api/v1/namespaces/shop/pods/train/status';
    const contentType = 'application/merge-patch+json';
    const body = { status: { phase: 'Pending', conditions: [condition] } };
    expect(await live.client.request({ method: 'PATCH', path, contentType, body })).toMatchObject({ kind: 'ok' });
  }

  async function expectPod(page: Page, { pod, state, parts }: (typeof CASES)[number]): Promise<void> {
    await page.getByRole('heading', { name: `shop/${pod}`, level: 1 }).waitFor();
    await page.getByText('What would change it').waitFor();
    const text = await page.locator('main').innerText();
    for (const part of [state, ...parts, 'What would change it']) expect(text).toContain(part);
  }

  beforeAll(async () => {
    live = await startLivePages(clock);
    await createAll();
    await untilAnswer(
      () => live.sources.timeline(clock.now()).length,
      (length) => length === 4,
    );
    address = await live.pages.serve(live.sources);
  }, BROWSER_TIMEOUT_MS);
  afterEach(async () => {
    expect(visit.faults).toEqual([]);
    await visit.end();
  });
  afterAll(() => live.stop());

  test('an eviction, a reclaim, a move, a refusal and a wait are each two clicks from the first page', async () => {
    visit = await live.pages.visit(`${address}/#/nodes`);
    const { page } = visit;
    for (const one of CASES) {
      await page.getByRole('link', { name: 'Nodes', exact: true }).click();
      await page.getByRole('link', { name: one.from, exact: true }).click();
      await page.getByRole('link', { name: one.pod, exact: true }).click();
      await expectPod(page, one);
    }
  });

  test('by keyboard on a narrow dark screen: the search finds a pod by a part of its name', async () => {
    visit = await live.pages.visit(`${address}/#/nodes`, { colorScheme: 'dark', width: 400 });
    const { page } = visit;
    const search = page.getByRole('searchbox', { name: 'Search' });
    for (const [text, one] of [
      ['rain', CASES[4]],
      ['shop/api-5d', CASES[3]],
    ] as const) {
      await search.focus();
      await page.keyboard.type(text);
      await page.getByText(text === 'rain' ? '1 pod;' : 'no pod found').waitFor();
      await page.keyboard.press('Enter');
      await expectPod(page, one);
      expect(await violations(page)).toEqual([]);
    }
    await search.focus();
    await page.keyboard.type('hog');
    await page.getByRole('link', { name: 'shop/hog' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'shop/hog' }).waitFor({ state: 'detached' });
  });

  test('an address that leads nowhere says so', async () => {
    for (const hash of ['#/pod/shop/hog', '#/nodes/a/b', '#/constructor']) {
      visit = await live.pages.visit(`${address}/${hash}`);
      await visit.page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
      if (hash !== '#/constructor') await visit.end();
    }
  });
});
