import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/model/steps.ts';
import { decideReclaim } from '#shared/domain/queue/reclaim.ts';
import { createLog } from '#shared/runtime/log.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { createReclaimReport } from '#scheduler/queues/reclaim-report.ts';
import { questionOf, readReclaimState, takersOf } from '#scheduler/queues/reclaim-question.ts';
import { queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const HOUR_MS = 3_600_000;
const RUNNING = { node: 'node-0', phase: 'Running', mayBePreempted: true } as const;

/** Queue `of-shop` is guaranteed 4 of 8 CPUs, and `other` has pods on all of them. */
function fullWorld(more: Partial<WatchedPod> = {}, taker: Partial<WatchedPod> = {}) {
  const world = queueWorld([queueFor('shop', { guaranteed: { cpu: 4 } }), queueFor('x', {}, 'other')]);
  for (let index = 0; index < 8; index += 1) {
    world.see({ name: `pod-${index}`, ...RUNNING, admittedTo: 'other', ...(index < 2 && more) });
  }
  world.see({ name: 'taker', cpu: 2, admittedTo: 'of-shop', mayPreempt: true, ...taker });
  return world;
}

function decide(world: ReturnType<typeof fullWorld>, now = HOUR_MS) {
  const input = { plan: world.plan(), pods: world.pods, snapshot: world.snapshot };
  const [taker] = takersOf(input);
  if (taker === undefined) return undefined;
  const decision = decideReclaim(questionOf(finish(readReclaimState(input)), taker, now));
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : decision.because.code;
}

describe('who would make room for a pod whose queue is under its guarantee', () => {
  test('as many pods of the other queue as are needed', () => {
    expect(decide(fullWorld())).toHaveLength(2);
  });

  test.each<[string, Partial<WatchedPod>, string]>([
    ['that asked to be spared when it was let in', { mayBePreempted: false }, 'pod-0'],
    ['of higher priority', { priority: 5 }, 'pod-0'],
    ['of a protected priority', { priority: 2_000_001_000 }, 'pod-0'],
  ])('no pod %s, while there are others', (_, change, name) => {
    expect(decide(fullWorld(change))).not.toContain(`shop/${name}`);
  });

  test('none, where terminating pods leave enough', () => {
    expect(decide(fullWorld({ isTerminating: true }))).toBe('Fits');
  });

  test.each<[string, Partial<WatchedPod>, number]>([
    ['has waited for less than the delay of its queue', {}, 10_000],
    ['may not preempt, by what was written when it was let in', { mayPreempt: false }, HOUR_MS],
    ['stands in a queue without a guarantee', { admittedTo: 'other' }, HOUR_MS],
  ])('none for a pod that %s', (_, taker, now) => {
    expect(typeof decide(fullWorld({}, taker), now)).toBe('string');
  });

  test('none for a pod that waits for its gate or has a node', () => {
    expect(decide(fullWorld({}, { node: 'node-0' }))).toBeUndefined();
  });
});

test('the dry run says each decision once, and sends nothing', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ component: 'scheduler', level: 'info', format: 'json', destination });
  const metrics = createMetrics('scheduler');
  const report = createReclaimReport({ clock: systemClock, log, metrics: createQueueMetrics(metrics) });
  const world = fullWorld();
  const input = { plan: world.plan(), pods: world.pods, snapshot: world.snapshot };
  const { signal } = new AbortController();
  await report(input, signal);
  await report(input, signal);
  expect(await metrics.text()).toContain(
    'plimsoll_queue_reclaim_decisions_total{decision="reclaim",mode="DryRun"} 1\n',
  );
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      msg: 'Would reclaim room (dry run)',
      pod: 'shop/taker',
      queue: 'of-shop',
      node: 'node-0',
    }),
  ]);
});
