import type { Admitted } from '#shared/api/admitted.ts';
import { type Because, reason } from '#shared/domain/base/because.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import { isDaemonSetPod, type Instant, MAX_SKEW_MS, type Pod } from '#shared/domain/pod/pod.ts';
import type { KeepTogether } from '#shared/domain/preemption/proposal/proposal.ts';
import { excessWith, type Loss } from '#shared/domain/queue/reclaim-rules.ts';
import { createTaker, type Taker } from '#shared/domain/queue/taker.ts';
import { createQueueRules } from '#shared/domain/queue/preemption-rules.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { AmountsByQueue, sumUsage } from '#shared/domain/queue/usage.ts';
import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { podCounter } from './counted-pods.ts';
import { guardedMark, type IsGuarded } from './forged-marks.ts';
import type { Charge, QueueCharges, PodAmounts } from './queue-charges.ts';
import { type FindQueue, queueFinder } from './queue-finder.ts';
import { PLACED_WITHIN_MS } from './unplaced-pods.ts';

/** The queues, and what their pods take. */
export interface QueuesNow {
  readonly snapshot: Pick<ClusterSnapshot, 'namespaces' | 'daemonSets'>;
  readonly directory: QueueDirectory;
  readonly charges: Pick<QueueCharges, 'get' | 'kinds'>;
  readonly amounts: Pick<PodAmounts, 'of'>;
  readonly now: Instant;
  /** How many pods of a kind are about to be preempted, which the charges still count. */
  readonly leaving?: ReadonlyMap<Charge, number>;
  readonly isGuarded?: IsGuarded | undefined;
}

/**
 * Makes the preemptions of a pod follow the rules of queues. `undefined` for a pod of system priority, for one of no
 * queue, and where its namespace is not managed: kube-scheduler then goes by priority alone. A pod whose queue is
 * unknown or not part of the tree is not kept.
 */
export function keptByQueues(queues: QueuesNow, preemptor: Pod): KeepTogether<Pod> | undefined {
  const queueOf = createQueueOf(queues);
  const taker = hasCriticalPriority(preemptor) ? undefined : takerOf(queues, queueOf, preemptor);
  if (taker === undefined) return undefined;
  const losses = new Map<Charge, Loss | undefined>();
  return createQueueRules(taker, ({ uid }) => {
    const charge = queues.charges.get(uid);
    if (charge === undefined) return undefined;
    const known = losses.get(charge);
    if (known !== undefined || losses.has(charge)) return known;
    const loss = lossOf(taker.tree, queueOf(charge), charge);
    losses.set(charge, loss);
    return loss;
  });
}

/**
 * Why a pod must not be placed that was let in so long ago that its share went to others: its queue, or one above it,
 * would be above its maximum. Its gate is off, so nothing else keeps kube-scheduler from placing it.
 */
export function aboveMaximum(queues: QueuesNow, pod: Pod): Because | undefined {
  const admitted = guardedMark(pod, queues.isGuarded);
  if (admitted === undefined || isRecent(admitted, queues.now)) return undefined;
  const taker = takerOf(queues, createQueueOf(queues), pod);
  if (taker === undefined) return undefined;
  const above = [...taker.above].find((index) => excessWith(taker, index).length > 0);
  const queue = above === undefined ? undefined : taker.tree.queues[above]?.name;
  return queue === undefined ? undefined : SHARE_GONE({ queue }, { queue });
}

/** A time that has not come says nothing, or its pod would be above the maximum for as long. */
function isRecent({ at }: Pick<Admitted, 'at'>, now: Instant): boolean {
  return now - at < PLACED_WITHIN_MS && at - now <= MAX_SKEW_MS;
}

const SHARE_GONE = reason<{ readonly queue: string }>(
  'ShareReturned',
  ({ queue }) =>
    `queue ${queue} would be above its maximum with this pod, whose share went to others while it had no node`,
);

/** The name of the queue that something counts for, if there is one. */
interface QueueOf {
  (charge: Omit<Charge, 'requests'>): string | undefined;
}

function createQueueOf({ snapshot, directory }: QueuesNow): QueueOf {
  const { tree } = directory;
  const find: FindQueue = queueFinder({ snapshot, directory }, () => undefined);
  return ({ namespace, label, admittedTo }) => {
    if (!isManaged(snapshot.namespaces.get(namespace))) return undefined;
    const name = admittedTo ?? nameIn(find({ namespace, label }));
    return name !== undefined && tree.indexes.has(name) && !tree.detached.has(name) ? name : undefined;
  };
}

function nameIn(found: ReturnType<FindQueue>): string | undefined {
  return found.kind === 'queue' ? found.name : undefined;
}

function takerOf(queues: QueuesNow, queueOf: QueueOf, preemptor: Pod): Taker | undefined {
  const queue = queueOf({
    namespace: preemptor.namespace,
    label: preemptor.labels.get(LABEL_QUEUE) ?? '',
    admittedTo: guardedMark(preemptor, queues.isGuarded)?.queue,
  });
  if (queue === undefined) return undefined;
  const { tree } = queues.directory;
  const { amounts, now, snapshot } = queues;
  const pod: WaitingPod = {
    uid: preemptor.uid,
    name: `${preemptor.namespace}/${preemptor.name}`,
    queue,
    application: '',
    priority: priorityOf(preemptor),
    requests: podCounter(tree)(amounts.of(preemptor)),
    waitingSince: now,
    isDaemonSet: isDaemonSetPod(preemptor, snapshot.daemonSets),
    mayPreempt: true,
    isCharged: true,
    isOriginator: false,
  };
  return createTaker(tree, sumUsage(tree, takenByQueues(queues, queueOf)), pod, now);
}

/** What the pods of each queue take, its children left aside. */
function takenByQueues(
  { charges, leaving, directory }: QueuesNow,
  queueOf: QueueOf,
): ReadonlyMap<string, QueueAmounts> {
  const taken = new AmountsByQueue();
  const counted = podCounter(directory.tree);
  for (const charge of charges.kinds()) {
    const name = queueOf(charge);
    if (name !== undefined) taken.add(name, counted(charge.requests), charge.pods - (leaving?.get(charge) ?? 0));
  }
  return taken.sums();
}

function lossOf(tree: QueueTree, name: string | undefined, { requests }: Charge): Loss | undefined {
  const queue = name === undefined ? undefined : tree.indexes.get(name);
  return queue === undefined ? undefined : { queue, amounts: podCounter(tree)(requests) };
}
