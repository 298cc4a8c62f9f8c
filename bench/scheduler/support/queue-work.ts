import { setImmediate } from 'node:timers/promises';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { declaredCapacity, queueDirectory } from '#shared/api/queue.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { inSlices } from '#shared/runtime/turns/turns.ts';
import { planPass, type QueuePlan } from '#shared/queues/plan-pass.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { createStatusWriter } from '#scheduler/queues/status-writer.ts';
import { createWaitEvents } from '#scheduler/queues/wait-events.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { createQueueCluster, type QueueClusterSize } from './queue-cluster.ts';

/** What the leader does on a cluster; writes are answered at once and change nothing. */
export interface QueueWork {
  readonly pass: () => Promise<QueuePlan>;
  readonly report: (plan: QueuePlan) => Promise<void>;
  /** Seeks room for twenty pods, each time from the beginning. */
  readonly reclaim: (plan: QueuePlan) => Promise<void>;
}

/** Reads a cluster of this size, and makes what the leader has. */
export function openQueueWork(size: QueueClusterSize): QueueWork {
  const { snapshot, pods, objects } = createQueueCluster(size, systemClock);
  const settings = { directory: queueDirectory(objects), capacity: declaredCapacity(objects) };
  const { signal } = new AbortController();
  const { client } = scriptedClient(() => ({ kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] }));
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  const events = { record: () => undefined };
  const ports = { client, clock: systemClock, log, metrics, events, pods, term: { isHeld: () => true } };
  const unwritten = { resourceVersion: undefined, isMade: false, status: undefined };
  const stored = objects.map((object) => ({ ...unwritten, object, uid: object.name }));
  const noReclaim = { evictedFor: () => [], blockedFor: () => undefined };
  const writeStatus = createStatusWriter({ ...ports, reclaim: noReclaim, queues: () => stored });
  const tellWaiting = createWaitEvents(events, () => undefined);
  const how = { isReclaiming: true, reclaimBy: 'Guarantees', replacements: 'First' } as const;
  return {
    pass: () =>
      inSlices(planPass({ pods, snapshot, now: systemClock.now(), ...how, ...settings }), systemClock, signal),
    report: async (plan) => {
      await writeStatus(plan, signal);
      tellWaiting(plan, systemClock.now());
    },
    reclaim: async (plan) => {
      const mode = { mode: 'DryRun', overuse: 'Off' } as const;
      const reclaim = new Reclaim({ ...ports, ...mode, snapshot, leading: signal, letIn: () => Promise.resolve() });
      await reclaim.round(plan, signal);
    },
  };
}

/** In milliseconds. */
export interface Timed {
  readonly totalMs: number;
  /** Processor time, which other programs on the machine change less. */
  readonly cpuMs: number;
  /** The longest that the event loop is held. */
  readonly longestMs: number;
}

/** How long some work takes. */
export async function timeTurns(work: () => Promise<unknown>): Promise<Timed> {
  let isOver = false;
  let longestMs = 0;
  const watch = async (): Promise<void> => {
    for (let last = performance.now(); !isOver;) {
      await setImmediate();
      const now = performance.now();
      longestMs = Math.max(longestMs, now - last);
      last = now;
    }
  };
  const watching = watch();
  await setImmediate();
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  await work();
  const totalMs = performance.now() - startedAt;
  const cpuMs = (cpuSeconds() - cpuBefore) * 1_000;
  isOver = true;
  await watching;
  return { totalMs, cpuMs, longestMs };
}
