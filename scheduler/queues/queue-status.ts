import type { QueueObject } from '#shared/api/queue.ts';
import { ineffectiveSettings, uncoveredGuarantees } from '#shared/domain/queueing/queue-settings.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { type QueueAmounts, queueQuantity, ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import { addAmounts, type QueueUsage, usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/queues/plan-pass.ts';
import { EMPTY_CONDITION, type StoredQueue } from './stored-queue.ts';

/** The status of a Queue without the times of its conditions. */
export interface QueueStatus {
  readonly observedGeneration: number;
  readonly deserved: Texts;
  /** What the queue may hold now. */
  readonly allocated: Texts;
  readonly used: Texts;
  /** What pods of other queues have to free before the queue may hold it, too. */
  readonly preempting: Texts;
  readonly pending: Texts;
  readonly waitingPods: number;
  readonly oldestWaiting: Instant | undefined;
  /** For pods of the queue. */
  readonly evicted: readonly EvictedPod[];
  readonly conditions: readonly Condition[];
}

/** What reclaim has come to, by queue. */
export interface ReclaimReport {
  /** The pods that were evicted for pods of the queue. */
  readonly evictedFor: (queue: string) => readonly EvictedPod[];
  readonly blockedFor: (queue: string) => Because | undefined;
}

type Texts = Readonly<Record<string, string>>;

/** The CRD takes no more. */
const MAX_TYPES = 16;

/** What waits in a queue and in all queues below it. */
interface Pending {
  readonly amounts: Map<string, Whole>;
  pods: number;
  oldest: Instant | undefined;
}

const QUEUES_PER_STEP = 50;
const PODS_PER_STEP = 1_000;

/** Makes the status of each queue from one plan. */
export function* statusesOf(
  plan: QueuePlan,
  queues: readonly Pick<StoredQueue, 'object' | 'isMade'>[],
  reclaim: ReclaimReport,
): Steps<ReadonlyMap<string, QueueStatus>> {
  const pending = yield* pendingBelow(plan);
  const uncovered = uncoveredGuarantees(plan.directory.tree, plan.total);
  const statuses = new Map<string, QueueStatus>();
  for (const [index, { object, isMade }] of queues.entries()) {
    if (index % QUEUES_PER_STEP === 0) yield;
    statuses.set(object.name, {
      ...amountsOf(object, plan, pending),
      evicted: reclaim.evictedFor(object.name),
      conditions: [
        ...conditionsOf(object, plan, uncovered),
        ...blockedCondition(reclaim.blockedFor(object.name)),
        ...emptyCondition(isMade && !plan.occupied.has(object.name)),
      ],
    });
  }
  return statuses;
}

function amountsOf(
  object: QueueObject,
  plan: QueuePlan,
  pending: readonly Pending[],
): Omit<QueueStatus, 'conditions' | 'evicted'> {
  const index = plan.directory.tree.indexes.get(object.name) ?? 0;
  const ofQueue = (usage: QueueUsage): QueueAmounts =>
    new Map(Array.from(usage.keys(), (type) => [type, usedBy(usage, index, type)]));
  const waiting = pending[index];
  return {
    observedGeneration: object.generation,
    deserved: texts(deservedOf(plan.shares, index)),
    allocated: texts(ofQueue(plan.allocation.allocated)),
    used: texts(ofQueue(plan.used)),
    preempting: texts(ofQueue(plan.allocation.preempting)),
    pending: texts(waiting?.amounts ?? new Map<string, Whole>()),
    waitingPods: waiting?.pods ?? 0,
    oldestWaiting: waiting?.oldest,
  };
}

function* pendingBelow({ directory: { tree }, held, seeking }: QueuePlan): Steps<readonly Pending[]> {
  const all = tree.queues.map((): Pending => ({ amounts: new Map(), pods: 0, oldest: undefined }));
  let count = 0;
  for (const pods of [held, seeking]) {
    for (const pod of pods) {
      for (const index of pathOf(tree, tree.indexes.get(pod.queue) ?? 0)) addPending(all[index], pod);
      count += 1;
      if (count % PODS_PER_STEP === 0) yield;
    }
  }
  return all;
}

function addPending(pending: Pending | undefined, { requests, waitingSince }: WaitingPod): void {
  if (pending === undefined) return;
  addAmounts(pending.amounts, requests);
  pending.pods += 1;
  pending.oldest = Math.min(pending.oldest ?? Infinity, waitingSince);
}

/** Types of which there is nothing say nothing, but for processor time and memory. */
function texts(amounts: QueueAmounts): Texts {
  const said = Array.from(amounts).filter(([type, amount]) => amount > 0 || type === 'cpu' || type === 'memory');
  const ordered = said.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_TYPES);
  return Object.fromEntries(ordered.map(([type, amount]) => [type, formatQuantity(queueQuantity(type, amount))]));
}

const DETACHED = {
  UnknownParent: (parent: string): string => `parent ${parent} does not exist; no pod is let in`,
  Cycle: (parent: string): string => `the parents of this queue lead back to it, by way of ${parent}; no pod is let in`,
} as const;

function conditionsOf(object: QueueObject, plan: QueuePlan, uncovered: readonly string[]): readonly Condition[] {
  const { tree } = plan.directory;
  const { name, parent = ROOT_QUEUE, policy, delay, namespaces } = object;
  const detached = tree.detached.get(name);
  const ready: Condition =
    detached === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'the queue lets pods in' }
      : { type: 'Ready', status: 'False', reason: detached, message: DETACHED[detached](parent) };
  const written = { name, policy, delay, isSelecting: namespaces.written !== undefined };
  const faults = ineffectiveSettings(written, { tree, index: tree.indexes.get(name) ?? 0 });
  return [ready, judged('SettingsEffective', 'NoEffect', faults), ...guaranteeCondition(object, uncovered)];
}

/** Only while it is so. */
function blockedCondition(because: Because | undefined): readonly Condition[] {
  if (because === undefined) return [];
  return [{ type: 'ReclaimBlocked', status: 'True', reason: 'BudgetSpent', message: because.text }];
}

/** Only while no pod stands in a queue that was made from a template. */
function emptyCondition(isEmpty: boolean): readonly Condition[] {
  if (!isEmpty) return [];
  return [{ type: EMPTY_CONDITION, status: 'True', reason: 'NoPods', message: 'removed after one hour without pods' }];
}

/** On the queue root, and on each queue right below it, since there may be no such object. */
function guaranteeCondition({ name, parent }: QueueObject, uncovered: readonly string[]): readonly Condition[] {
  const isTop = name === ROOT_QUEUE || (parent ?? ROOT_QUEUE) === ROOT_QUEUE;
  return isTop ? [judged('GuaranteesCovered', 'AboveCluster', uncovered)] : [];
}

function judged(type: string, reason: string, faults: readonly string[]): Condition {
  if (faults.length === 0) return { type, status: 'True', reason: 'AsWritten', message: '' };
  return { type, status: 'False', reason, message: faults.join('; ') };
}
