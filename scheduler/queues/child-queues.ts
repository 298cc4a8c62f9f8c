import { encodeQueue, queueFromTemplate, type QueueShare } from '#shared/api/queue.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import { childName, type ChildrenQuestion, decideChildren, type NewChild } from '#shared/domain/queue/child-queues.ts';
import { API_VERSION, COMPONENT_NAMES, LABEL_MANAGED_BY, QUEUE_LEADER } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createObject, deleteObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import type { QueuePlan } from '#shared/queues/plan-pass.ts';
import { emptySince, type StoredQueue } from './stored-queue.ts';

export interface ChildQueuePorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly queues: () => Iterable<StoredQueue>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
}

/** In one round, so in a second. */
const MAX_WRITES = 20;
/** A refusal hardly goes away faster, and the watch shows by then what was created. */
const AGAIN_MS = 10_000;
const MAX_REMEMBERED = 10_000;
const OPTIONS = { timeoutMs: 5_000 } as const;

/** A queue for which the API server was asked a short time ago; it is left alone until then. */
interface Asked {
  readonly child: NewChild | undefined;
  readonly until: number;
}

/**
 * Makes queues from the templates of others and removes those that were empty for an hour, to be called once a second. A
 * queue is written once, when it is created: what a person changes in it later, or in the template, stays as it is.
 */
export function createChildQueues(ports: ChildQueuePorts): (plan: QueuePlan, signal: AbortSignal) => Promise<void> {
  const { clock, term } = ports;
  const asked = new Map<string, Asked>();
  return async (plan, signal) => {
    const now = clock.monotonic();
    for (const [name, { until }] of asked) if (until <= now) asked.delete(name);
    const stored = new Map(Array.from(ports.queues(), (queue) => [queue.object.name, queue]));
    const { create, remove } = decideChildren(questionOf(plan, stored, asked, clock.now()));
    const children = create.map((child) => ({ name: childName(child), child }));
    const writes = [...children, ...remove.map((name) => ({ name, child: undefined }))];
    for (const { name, child } of writes.filter((each) => !asked.has(each.name)).slice(0, MAX_WRITES)) {
      if (signal.aborted || !term.isHeld()) return;
      putBounded(asked, MAX_REMEMBERED, [name, { child, until: now + AGAIN_MS }]);
      if (child === undefined) await removeQueue(stored.get(name), ports, signal);
      else await createQueue(child, stored.get(child.parent), ports, signal);
    }
  };
}

function questionOf(
  { directory, wantedQueues, occupied }: QueuePlan,
  stored: ReadonlyMap<string, StoredQueue>,
  asked: ReadonlyMap<string, Asked>,
  now: Instant,
): ChildrenQuestion {
  const made = Array.from(stored.values()).filter(({ isMade }) => isMade);
  return {
    tree: directory.tree,
    wanted: wantedQueues.values(),
    created: Array.from(asked.values()).flatMap(({ child }) => child ?? []),
    made: made.map((queue) => ({ name: queue.object.name, emptySince: emptySince(queue) })),
    ...{ occupied, now },
  };
}

async function createQueue(
  child: NewChild,
  parent: StoredQueue | undefined,
  { client, log }: ChildQueuePorts,
  signal: AbortSignal,
): Promise<void> {
  const template = parent?.object.childTemplate;
  if (parent === undefined || template === undefined) return;
  const options = { ...OPTIONS, fieldManager: COMPONENT_NAMES.scheduler, signal };
  const outcome = await createObject(client, { resource: QUEUES }, childQueue(child, parent, template), options);
  if (outcome.kind === 'alreadyExists') return;
  report(log, childName(child), outcome, ['Queue made from a template', 'Queue not made from a template']);
}

/** Goes with its parent, by the garbage collector; no `blockOwnerDeletion`, which takes a right of its own. */
function childQueue(child: NewChild, { uid, object: { name } }: StoredQueue, template: QueueShare): object {
  const owner = { apiVersion: API_VERSION, kind: QUEUES.kind, name, uid };
  const metadata = {
    name: childName(child),
    labels: { [LABEL_MANAGED_BY]: QUEUE_LEADER },
    ownerReferences: [owner],
  };
  return { ...encodeQueue(queueFromTemplate(child, template)), metadata };
}

/** Not if it has changed since it was read. */
async function removeQueue(
  queue: StoredQueue | undefined,
  { client, log }: ChildQueuePorts,
  signal: AbortSignal,
): Promise<void> {
  if (queue === undefined) return;
  const { uid, resourceVersion, object } = queue;
  const preconditions = { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  const options = { ...OPTIONS, ...preconditions, signal };
  const outcome = await deleteObject(client, { resource: QUEUES, name: object.name }, options);
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
  else log.warn({ queue, kind: outcome.kind, message: outcome.message }, failed);
}
