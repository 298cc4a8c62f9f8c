import { isDeepStrictEqual } from 'node:util';
import { present, secondsText, unlessEmpty } from '#shared/api/fields.ts';
import { decodeEvictedPods, encodeEvictedPod } from '#shared/api/evicted-pods.ts';
import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { type QueueStatus, type ReclaimReport, statusesOf } from './queue-status.ts';
import type { StoredQueue } from './stored-queue.ts';

export interface StatusPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly queues: () => Iterable<StoredQueue>;
  readonly metrics: QueueMetrics;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly reclaim: ReclaimReport;
}

/** Per round, that is, per second. */
const MAX_WRITES = 20;
const WRITE = { type: 'json', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * Returns a writer of queue statuses. Call it once a second: it writes only statuses that differ from the stored ones,
 * at most 20 queues a round. A queue that was written goes to the end of the line.
 */
export function createStatusWriter(ports: StatusPorts): (plan: QueuePlan, signal: AbortSignal) => Promise<void> {
  /** When each queue was last written; recently written queues come last. */
  let writtenAt = new Map<string, number>();
  return async (plan, signal) => {
    const stored = Array.from(ports.queues());
    const wanted = await inChunks(statusesOf(plan, stored, ports.reclaim), ports.clock, signal);
    const changed = stored.flatMap((queue) => changeOf(queue, wanted.get(queue.object.name), ports.clock.now()));
    writtenAt = new Map(changed.map(({ name }) => [name, writtenAt.get(name) ?? 0]));
    const longestAgo = changed.toSorted((a, b) => (writtenAt.get(a.name) ?? 0) - (writtenAt.get(b.name) ?? 0));
    for (const { name, status } of longestAgo.slice(0, MAX_WRITES)) {
      if (signal.aborted || !ports.term.isHeld()) return;
      writtenAt.set(name, ports.clock.monotonic());
      await write(name, status, ports, signal);
    }
  };
}

async function write(name: string, value: object, ports: StatusPorts, signal: AbortSignal): Promise<void> {
  const patch = [{ op: 'add', path: '/status', value }];
  const outcome = await patchObject(ports.client, { resource: QUEUES, name, subresource: 'status' }, patch, {
    ...WRITE,
    signal,
  });
  ports.metrics.statusWrites.add({ outcome: outcome.kind });
  if (!signal.aborted) faultLog(ports.log, 'Queue status not written').answered(name, outcome);
}

/** The status to write; `undefined` if it is stored already. */
function changeOf({ object, status }: StoredQueue, wanted: QueueStatus | undefined, now: Instant) {
  if (wanted === undefined) return [];
  const next = encodeStatus(wanted, status, now);
  return isDeepStrictEqual(next, status) ? [] : [{ name: object.name, status: next }];
}

function encodeStatus(wanted: QueueStatus, stored: unknown, now: Instant): object {
  const { oldestWaiting, conditions, evicted, ...amounts } = wanted;
  const before = itemsOf(fieldOf(stored, 'conditions'));
  return {
    ...amounts,
    ...(oldestWaiting !== undefined && { oldestWaiting: secondsText(oldestWaiting) }),
    ...present({ evicted: unlessEmpty(withStored(evicted, stored)) }),
    conditions: conditions.map((each) => {
      const known = before.find((one) => fieldOf(one, 'type') === each.type && fieldOf(one, 'status') === each.status);
      const lastTransitionTime = fieldOf(known, 'lastTransitionTime') ?? secondsText(now);
      return { ...each, observedGeneration: wanted.observedGeneration, lastTransitionTime };
    }),
  };
}

/** What an earlier leader wrote stays, within the same bound. */
function withStored(evicted: readonly EvictedPod[], stored: unknown): readonly object[] {
  const uids = new Set(evicted.map(({ uid }) => uid));
  const earlier = decodeEvictedPods({ status: stored }).filter(({ uid }) => !uids.has(uid));
  return [...earlier, ...evicted].slice(-MAX_EVICTED).map(encodeEvictedPod);
}
