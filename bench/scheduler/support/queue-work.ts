import { setImmediate } from 'node:timers/promises';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { declaredCapacity, queueDirectory } from '#shared/api/queue.ts';
import { type Amounts, ZERO } from '#shared/domain/quantity/quantity.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import { letPodsIn } from '#scheduler/queues/let-pods-in.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { createStatusWriter } from '#scheduler/queues/status-writer.ts';
import { createWaitEvents } from '#scheduler/queues/wait-events.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { createQueueCluster, type QueueClusterSize } from './queue-cluster.ts';

/** The leader's work on a cluster; writes succeed at once and change nothing. */
export interface QueueWork {
  readonly pass: () => Promise<QueuePlan>;
  readonly report: (plan: QueuePlan) => Promise<void>;
  /** Searches room for twenty pods, each time from the beginning. */
  readonly reclaim: (plan: QueuePlan) => Promise<void>;
  /** In a minute in which no pod may be let in, after the statuses of all queues are stored. */
  readonly writesOfMinute: () => Promise<{ readonly podsAndQueues: number; readonly events: number }>;
}

/** The statuses of so many queues are written in one report. */
const STATUSES = 20;
const SECONDS = 60;
const NO_STATUS: unknown = undefined;
const NO_CPU: Amounts = new Map([['cpu', ZERO]]);

/** Reads a cluster of this size, and creates the leader's state. */
export function openQueueWork(size: QueueClusterSize): QueueWork {
  const { snapshot, pods, objects } = createQueueCluster(size, systemClock);
  const settings = { directory: queueDirectory(objects), capacity: declaredCapacity(objects) };
  const { signal } = new AbortController();
  const unmade = { isMade: false, written: undefined, taken: new Set<string>(), createdAt: 0 };
  const unwritten = { resourceVersion: undefined, status: NO_STATUS, ...unmade };
  const stored = new Map(objects.map((object) => [object.name, { ...unwritten, object, uid: object.name }]));
  const { client, requests } = scriptedClient(({ path, body }) => {
    const queue = stored.get(/\/queues\/([^/]+)\/status$/.exec(path)?.[1] ?? '');
    if (queue !== undefined) queue.status = fieldOf((body as readonly unknown[])[0], 'value');
    return { kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] };
  });
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  let recorded = 0;
  const events = { record: () => void (recorded += 1) };
  const ports = { client, clock: systemClock, log, metrics, events, pods, term: { isHeld: () => true } };
  const noReclaim = { evictedFor: () => [], blockedFor: () => undefined };
  const writeStatus = createStatusWriter({ ...ports, reclaim: noReclaim, queues: () => stored.values() });
  const tellWaiting = createWaitEvents(events, () => undefined);
  const letInPorts = { ...ports, classOf: () => undefined, refused: new Map<string, never>() };
  const how = { isReclaiming: true, reclaimBy: 'Guarantees', replacements: 'First' } as const;
  return {
    pass: () =>
      inChunks(planPass({ pods, snapshot, now: systemClock.now(), ...how, ...settings }), systemClock, signal),
    report: async (plan) => {
      await writeStatus(plan, signal);
      await inChunks(tellWaiting(plan, systemClock.now()), systemClock, signal);
    },
    reclaim: async (plan) => {
      const settings = () => ({ mode: 'DryRun', overuse: 'Keep' }) as const;
      const reclaim = new Reclaim({ ...ports, settings, snapshot, leading: signal, letIn: () => Promise.resolve() });
      await reclaim.round(plan, signal);
    },
    writesOfMinute: async () => {
      const now = systemClock.now();
      const directory = queueDirectory(objects.map((object) => ({ ...object, max: NO_CPU })));
      const input = { pods, snapshot, now, ...how, ...settings, directory };
      const plan = await inChunks(planPass(input), systemClock, signal);
      if (plan.letIn.length + plan.seeking.length > 0) throw new Error('pods go in');
      for (let round = 0; round <= objects.length / STATUSES; round += 1) await writeStatus(plan, signal);
      const before = { requests: requests.length, recorded };
      for (let second = 0; second < SECONDS; second += 1) {
        await letPodsIn(plan, letInPorts, signal);
        await writeStatus(plan, signal);
        await inChunks(tellWaiting(plan, now + second * 1_000), systemClock, signal);
      }
      return { podsAndQueues: requests.length - before.requests, events: recorded - before.recorded };
    },
  };
}

/** In milliseconds. */
export interface Timed {
  readonly totalMs: number;
  /** CPU time, which other programs on the machine affect less. */
  readonly cpuMs: number;
  /** The longest time that the event loop is blocked. */
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
