import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#shared/domain/base/durations.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { type LivePages, startLivePages } from './live-pages.ts';
import { BROWSER_TIMEOUT_MS, hasBrowser, type Visit } from './pages.ts';

/** 03:12 in Berlin. */
const SPIKE = Date.parse('2026-11-21T02:12:00Z');
const EVICTED = SPIKE + 2 * SECOND_MS;
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const WHY = 'memory.available is 222892Ki, below the hard threshold of 224Mi';

/** A clock that stands at the time of the incident and is set on by the test; what waits, waits in real time. */
let now = SPIKE - 10 * MINUTE_MS;
const clock: Clock = { ...systemClock, now: () => now };

describe.runIf(hasBrowser)('an incident at night, on the page', { timeout: 4 * BROWSER_TIMEOUT_MS }, () => {
  let live: LivePages;
  let visit: Visit;
  let page: Page;

  /** The agent of the node reports, and the page has seen it. */
  async function report(at: number, available: string, evictions: readonly object[] = []): Promise<void> {
    now = at;
    const observedAt = new Date(at).toISOString();
    const signal = { name: 'memory.available', state: 'Far', available, capacity: '1Gi', threshold: '224Mi' };
    const status = { observedAt, mode: 'Enforce', policy: 'default', signals: [signal], evictions };
    const contentType = 'application/merge-patch+json';
    const sent = { method: 'PATCH', path: `${PRESSURES}/node-1/status`, contentType, body: { status } } as const;
    expect(await live.client.request(sent)).toMatchObject({ kind: 'ok' });
    await untilAnswer(
      () => live.sources.history('node-1').times.at(-1),
      (last) => last === at,
    );
  }

  /** The record of the removed pod, as the scheduler process writes it. */
  async function record(): Promise<void> {
    const path = '/apis/plimsoll.dev/v1alpha1/namespaces/team-a/disruptions';
    const because = { code: 'ThresholdMet', text: WHY, facts: {} };
    const spec = { pod: 'report', podUID: 'u-1', priority: -100, node: 'node-1', cause: 'Eviction', because };
    const body = {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Disruption',
      metadata: { name: 'report-u', namespace: 'team-a' },
      spec: { ...spec, removedAt: new Date(EVICTED).toISOString(), requestedBy: 'plimsoll.dev/agent' },
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
    await live.client.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace });
    expect(await live.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
  }

  const eviction = {
    pod: 'team-a/report',
    uid: 'u-1',
    signal: 'memory.available',
    stage: 'severe',
    mode: 'Enforce',
    outcome: 'evicted',
    requestedAt: new Date(EVICTED).toISOString(),
    because: { code: 'ThresholdMet', text: WHY, facts: { signal: 'memory.available', available: '20Mi' } },
  };

  /** What happened, when, to which pod and why: in the chart, and as text. */
  async function expectIncident(ago: RegExp): Promise<void> {
    const chart = page.getByRole('img', { name: /^memory.available: / });
    const said = new RegExp(`at most 98 % at 21 Nov, 03:12:02 CET \\(${ago.source} ago\\).*, 1 removal of pods marked`);
    await untilAnswer(
      async () => (await chart.getAttribute('aria-label')) ?? '',
      (label) => said.test(label),
    );
    const happened = page.getByRole('region', { name: 'What happened on this node' });
    const entry = await happened.locator('li').first().innerText();
    for (const part of ['Eviction', 'team-a/report', WHY, '21 Nov, 03:12:02 CET']) expect(entry).toContain(part);
    expect(entry).toMatch(ago);
  }

  beforeAll(async () => {
    live = await startLivePages(clock);
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-1' } };
    await live.client.request({ method: 'POST', path: PRESSURES, body });
    for (let before = 30; before > 0; before -= 1) await report(SPIKE - before * 10 * SECOND_MS, '700Mi');
    visit = await live.pages.visit(`${await live.pages.serve(live.sources, { clock })}/#/nodes/node-1`);
    page = visit.page;
  }, BROWSER_TIMEOUT_MS);
  afterAll(() => live.stop());

  test('two minutes and five days later the page says what happened, when, to which pod and why', async () => {
    await report(SPIKE, '50Mi');
    // The moment of the eviction lies between two reports.
    await report(EVICTED + SECOND_MS, '760Mi', [eviction]);
    await record();
    await expectIncident(/\d+ s/);
    for (let after = 10; after <= 150; after += 10) await report(SPIKE + after * SECOND_MS, '700Mi', [eviction]);
    await expectIncident(/[23] min/);
    for (let hours = 1; hours <= 5 * 24; hours += 1) await report(SPIKE + hours * HOUR_MS, '700Mi');
    // A page that is opened only then shows it, too.
    await page.reload();
    await expectIncident(/5 days/);
    expect(visit.faults).toEqual([]);
  });
});
