import { encodeQueue, queueFromTemplate, type QueueObject } from '#shared/api/queue.ts';
import { encodeWrittenFields, shareChanges, shareFields } from '#shared/api/queue-fields.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { childName, type ChildrenQuestion, decideChildren, type NewChild } from '#shared/domain/queue/child-queues.ts';
import type { FollowStep } from '#shared/domain/queue/follow-template.ts';
import {
  ANNOTATION_FROM_TEMPLATE,
  API_VERSION,
  COMPONENT_NAMES,
  LABEL_MANAGED_BY,
  QUEUE_LEADER,
} from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createObject, deleteObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { followSteps } from './follow-steps.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { emptySince, type StoredQueue } from './stored-queue.ts';

export interface ChildQueuePorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly queues: () => Iterable<StoredQueue>;
  readonly metrics: Pick<QueueMetrics, 'templateWrites'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
}

/** Per round, that is, per second. */
const MAX_WRITES = 20;
/** A refusal rarely clears up faster, and by then the watch shows the write. */
const AGAIN_MS = 10_000;
const MAX_REMEMBERED = 10_000;
const OPTIONS = { timeoutMs: 5_000 } as const;
const WRITE = { ...OPTIONS, fieldManager: COMPONENT_NAMES.scheduler } as const;

/** A queue about which the API server was asked recently; it is left alone until then. */
interface RecentQuestion {
  readonly child: NewChild | undefined;
  readonly until: number;
}

type Stored = ReadonlyMap<string, StoredQueue>;

/** One write; `child` is set if it creates a queue. */
interface QueueWrite {
  readonly name: string;
  readonly child?: NewChild;
  readonly send: (signal: AbortSignal) => Promise<void>;
}

/**
 * Creates queues from the templates of other queues, updates them with the template, and removes those that were empty
 * for an hour. Call it once a second. Changes by users to such a queue are kept.
 */
export function createChildQueues(ports: ChildQueuePorts): (plan: QueuePlan, signal: AbortSignal) => Promise<void> {
  const { clock, term } = ports;
  const asked = new Map<string, RecentQuestion>();
  return async (plan, signal) => {
    const now = clock.monotonic();
    for (const [name, { until }] of asked) if (until <= now) asked.delete(name);
    const stored = new Map(Array.from(ports.queues(), (queue) => [queue.object.name, queue]));
    const writes = writesOf(plan, { stored, asked }, ports);
    for (const { name, child, send } of writes.filter((each) => !asked.has(each.name)).slice(0, MAX_WRITES)) {
      if (signal.aborted || !term.isHeld()) return;
      putBounded(asked, MAX_REMEMBERED, [name, { child, until: now + AGAIN_MS }]);
      await send(signal);
    }
  };
}

interface KnownQueues {
  readonly stored: Stored;
  readonly asked: ReadonlyMap<string, RecentQuestion>;
}

function writesOf(plan: QueuePlan, { stored, asked }: KnownQueues, ports: ChildQueuePorts): readonly QueueWrite[] {
  const { create, remove } = decideChildren(questionOf(plan, stored, asked, ports.clock.now()));
  const created = create.map((child): QueueWrite => {
    return {
      name: childName(child),
      child,
      send: (signal) => createQueue(child, stored.get(child.parent), ports, signal),
    };
  });
  const removed = remove.map((name): QueueWrite => ({
    name,
    send: (signal) => removeQueue(stored.get(name), ports, signal),
  }));
  const unseen = [...Array.from(asked.values(), (each) => each.child ?? []).flat(), ...create];
  const staying = followSteps(plan.directory.tree, stored, unseen).filter(({ name }) => !remove.includes(name));
  const changed = staying.map((step): QueueWrite => ({
    name: step.name,
    send: (signal) => changeQueue(step, stored.get(step.name), ports, signal),
  }));
  return [...created, ...removed, ...changed];
}

function questionOf(
  { directory, wantedQueues, occupied }: QueuePlan,
  stored: Stored,
  asked: ReadonlyMap<string, RecentQuestion>,
  now: Instant,
): ChildrenQuestion {
  const made = Array.from(stored.values()).filter(({ isMade }) => isMade);
  return {
    tree: directory.tree,
    wanted: wantedQueues.values(),
    created: Array.from(asked.values()).flatMap(({ child }) => child ?? []),
    made: made.map((queue) => ({ name: queue.object.name, emptySince: emptySince(queue) })),
    occupied,
    now,
  };
}

async function createQueue(
  child: NewChild,
  parent: StoredQueue | undefined,
  { client, log, metrics }: ChildQueuePorts,
  signal: AbortSignal,
): Promise<void> {
  const template = parent?.object.childTemplate;
  if (parent === undefined || template === undefined) return;
  const object = childQueue(child, parent, queueFromTemplate(child, template));
  const outcome = await createObject(client, { resource: QUEUES }, object, { ...WRITE, signal });
  metrics.templateWrites.add({ write: 'create', outcome: outcome.kind });
  if (outcome.kind === 'alreadyExists') return;
  report(log, childName(child), outcome, ['Queue made from a template', 'Queue not made from a template']);
}

/** Only if the queue has not changed since it was read: a user may just have taken over a field. */
async function changeQueue(
  { name, changes, written }: FollowStep,
  queue: StoredQueue | undefined,
  { client, log, metrics }: ChildQueuePorts,
  signal: AbortSignal,
): Promise<void> {
  if (queue === undefined) return;
  const { uid, resourceVersion, object } = queue;
  const annotations = { [ANNOTATION_FROM_TEMPLATE]: encodeWrittenFields(written) };
  const patch = { metadata: { uid, resourceVersion, annotations }, spec: shareChanges(shareFields(object), changes) };
  const options = { ...WRITE, type: 'merge', signal } as const;
  const outcome = await patchObject(client, { resource: QUEUES, name }, patch, options);
  metrics.templateWrites.add({ write: 'change', outcome: outcome.kind });
  if (outcome.kind === 'notFound' || outcome.kind === 'conflict') return;
  report(log, name, outcome, ['Queue changed with its template', 'Queue not changed with its template']);
}

/**
 * The garbage collector deletes the queue with its parent. No `blockOwnerDeletion`, which needs an extra permission.
 */
function childQueue(child: NewChild, { uid, object: { name } }: StoredQueue, queue: QueueObject): object {
  const owner = { apiVersion: API_VERSION, kind: QUEUES.kind, name, uid };
  const metadata = {
    name: childName(child),
    labels: { [LABEL_MANAGED_BY]: QUEUE_LEADER },
    annotations: { [ANNOTATION_FROM_TEMPLATE]: encodeWrittenFields(shareFields(queue)) },
    ownerReferences: [owner],
  };
  return { ...encodeQueue(queue), metadata };
}

/** Only if the queue has not changed since it was read. */
async function removeQueue(
  queue: StoredQueue | undefined,
  { client, log, metrics }: ChildQueuePorts,
  signal: AbortSignal,
): Promise<void> {
  if (queue === undefined) return;
  const { uid, resourceVersion, object } = queue;
  const preconditions = { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  const options = { ...OPTIONS, ...preconditions, signal };
  const outcome = await deleteObject(client, { resource: QUEUES, name: object.name }, options);
  metrics.templateWrites.add({ write: 'remove', outcome: outcome.kind });
  if (outcome.kind === 'notFound' || outcome.kind === 'conflict') return;
  report(log, object.name, outcome, ['Empty queue removed', 'Empty queue not removed']);
}

function report(
  log: ChildQueuePorts['log'],
  queue: string,
  outcome: Outcome<unknown>,
  [done, failed]: readonly [string, string],
): void {
  if (outcome.kind === 'ok') log.info({ queue }, done);
  faultLog(log, failed).answered(queue, outcome);
}
