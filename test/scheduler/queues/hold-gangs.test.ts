import { expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { HoldGangs } from '#scheduler/queues/hold-gangs.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { at } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

const GANGS = 20;

/** Gangs of two of which one pod runs, for an hour. */
function stageOf(answer: () => Promise<Outcome<unknown>>, spec = {}) {
  const { pods, snapshot, see, plan } = queueWorld([queueFor('shop')], { 'node-0': 100 });
  for (let index = 0; index < GANGS; index += 1) {
    const labels = { 'plimsoll.dev/gang': `gang-${index}`, 'plimsoll.dev/gang-size': '2' };
    const admittedAs = { name: `gang-${index}`, min: 2 };
    see({ name: `in-${index}`, labels, admittedTo: 'of-shop', admittedAs, node: 'node-0', phase: 'Running', spec });
    see({ name: `waits-${index}`, labels, gates: [GATE] });
  }
  const clock = manualClock(3_600_000);
  const { client, requests } = scriptedClient(answer);
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  const paused: string[] = [];
  const starts = {
    pause: (gang: string) => void paused.push(gang),
    plannedFor: () => undefined,
    whyNotNow: (gang: string) => (paused.includes(gang) ? { code: 'GangIsHalf', text: '', facts: {} } : undefined),
  };
  const term = { isHeld: () => true };
  const shared = { client, clock, log, metrics, pods, snapshot, starts, term, leading: new AbortController().signal };
  const holds = new HoldGangs({ ...shared, events: { record: () => undefined }, timeoutMs: () => 60_000 });
  return {
    holds,
    clock,
    paused,
    round: (): void => {
      holds.round(plan());
    },
    requests,
    evicted: () => new Set(requests.map(({ path }) => path)),
  };
}

test('evictions that take long hold up neither the round nor, beyond a bound, the API server', async () => {
  const stage = stageOf(() => new Promise(() => undefined));
  for (let round = 0; round < 3; round += 1) {
    stage.round();
    await stage.clock.advance(500);
  }
  expect([stage.evicted().size, stage.paused]).toEqual([16, []]);
});

test('gangs whose pods are already leaving keep no other from going back', async () => {
  const stage = stageOf(() => Promise.resolve({ kind: 'ok', object: { metadata: {} }, warnings: [] }));
  for (let round = 0; round < 2; round += 1) {
    stage.round();
    await stage.holds.settled();
  }
  expect([stage.evicted().size, stage.paused.length]).toEqual([GANGS, GANGS]);
});

test.each([
  [3_600, 600],
  [60, undefined],
])('pods that take %i s to end are evicted with %s s, so that their room is free in time', async (seconds, given) => {
  const ok = () => Promise.resolve({ kind: 'ok', object: { metadata: {} }, warnings: [] } as const);
  const stage = stageOf(ok, { terminationGracePeriodSeconds: seconds });
  stage.round();
  await stage.holds.settled();
  expect(stage.requests.length).toBeGreaterThan(0);
  const periods = stage.requests.map(({ body }) => at(body, 'deleteOptions.gracePeriodSeconds'));
  expect(new Set(periods)).toEqual(new Set([given]));
});

test('an eviction that is refused is requested again within the time that is left of a minute', async () => {
  let asked = 0;
  const stage = stageOf(() => {
    asked += 1;
    if (asked <= GANGS) return Promise.resolve({ kind: 'tooManyRequests', message: 'busy' });
    return Promise.resolve({ kind: 'ok', object: { metadata: {} }, warnings: [] });
  });
  for (let second = 0; second < 13; second += 1) {
    stage.round();
    await stage.holds.settled();
    if (second === 8) expect(asked).toBe(GANGS);
    await stage.clock.advance(1_000);
  }
  expect(stage.paused).toContain('shop/gang-0');
});

test('an eviction whose answer is lost is requested again within seconds', async () => {
  let asked = 0;
  const stage = stageOf(() => {
    asked += 1;
    if (asked === 1) return Promise.resolve({ kind: 'timeout', message: 'lost' });
    return Promise.resolve({ kind: 'ok', object: { metadata: {} }, warnings: [] });
  });
  for (let second = 0; second < 7; second += 1) {
    stage.round();
    await stage.holds.settled();
    if (second === 3) expect([asked, stage.paused.length]).toEqual([GANGS, GANGS - 1]);
    await stage.clock.advance(1_000);
  }
  expect(stage.paused).toContain('shop/gang-0');
});

test('evictions that are asked for again because the watch is late make no gang wait twice as long', async () => {
  const stage = stageOf(() => Promise.resolve({ kind: 'ok', object: { metadata: {} }, warnings: [] }));
  for (let second = 0; second < 7; second += 1) {
    stage.round();
    await stage.holds.settled();
    await stage.clock.advance(1_000);
  }
  expect([stage.requests.length, stage.paused.length]).toEqual([2 * GANGS, GANGS]);
});
