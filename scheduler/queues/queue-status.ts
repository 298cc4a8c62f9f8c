import { type QueueObject, writtenSettings } from '#shared/api/queue.ts';
import { ineffectiveSettings, uncoveredGuarantees } from '#shared/domain/queue/queue-settings.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type QueueAmounts, queueQuantity, ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { whyOverused } from '#shared/domain/queue/overuse.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import { AmountsByQueue, type QueueUsage, sumUsage, usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { ReturnedShare } from '#shared/decide/queues/unplaced-pods.ts';
import { gangsCondition, gangsWaiting } from './waiting-gangs.ts';
import { EMPTY_CONDITION, type StoredQueue } from './stored-queue.ts';

/** The status of a Queue without the times of its conditions. */
export interface QueueStatus {
  readonly observedGeneration: number;
  readonly deserved: Texts;
  /** What the queue may hold now. */
  readonly allocated: Texts;
  readonly used: Texts;
  /** What pods of other queues have to free before the queue can hold it too. */
  readonly preempting: Texts;
  readonly pending: Texts;
  readonly waitingPods: number;
  readonly oldestWaiting: Instant | undefined;
  /** For pods of the queue. */
  readonly evicted: readonly EvictedPod[];
  readonly conditions: readonly Condition[];
}

/** The state of reclaim, by queue. */
export interface ReclaimReport {
  /** The pods that were evicted for pods of the queue. */
  readonly evictedFor: (queue: string) => readonly EvictedPod[];
  readonly blockedFor: (queue: string) => Because | undefined;
}

type Texts = Readonly<Record<string, string>>;

/** The maximum that the CRD allows. */
const MAX_TYPES = 16;

/** By number of the queue: the waiting pods of the queue and of all queues below it. */
interface Pending {
  readonly usage: QueueUsage;
  readonly pods: number[];
  readonly oldest: number[];
}

const QUEUES_PER_STEP = 50;
const PODS_PER_STEP = 1_000;

/** Builds the status of each queue from one plan. */
export function* statusesOf(
  plan: QueuePlan,
  queues: readonly Pick<StoredQueue, 'object' | 'isMade'>[],
  reclaim: ReclaimReport,
): Steps<ReadonlyMap<string, QueueStatus>> {
  const pending = yield* pendingBelow(plan);
  const uncovered = uncoveredGuarantees(plan.directory.tree, plan.available);
  const returned = Map.groupBy(plan.returned, ({ queue }) => queue);
  const gangs = yield* gangsWaiting(plan);
  const statusOf = ({ object, isMade }: Pick<StoredQueue, 'object' | 'isMade'>): QueueStatus => ({
    ...amountsOf(object, plan, pending),
    evicted: reclaim.evictedFor(object.name),
    conditions: [
      ...conditionsOf(object, plan, uncovered),
      ...overuseCondition(object, plan),
      ...blockedCondition(reclaim.blockedFor(object.name)),
      ...returnedCondition(returned.get(object.name) ?? []),
      ...gangsCondition(gangs.get(object.name)),
      ...emptyCondition(isMade && !plan.occupied.has(object.name)),
    ],
  });
  const named = (queue: (typeof queues)[number]) => [queue.object.name, statusOf(queue)] as const;
  return new Map(yield* collectInSteps(queues, named, QUEUES_PER_STEP));
}

function amountsOf(
  object: QueueObject,
  plan: QueuePlan,
  pending: Pending,
): Omit<QueueStatus, 'conditions' | 'evicted'> {
  const index = plan.directory.tree.indexes.get(object.name) ?? 0;
  const ofQueue = (usage: QueueUsage): QueueAmounts =>
    new Map(Array.from(usage.keys(), (type) => [type, usedBy(usage, index, type)]));
  return {
    observedGeneration: object.generation,
    deserved: texts(deservedOf(plan.shares, index)),
    allocated: texts(ofQueue(plan.allocation.allocated)),
    used: texts(ofQueue(plan.used)),
    preempting: texts(ofQueue(plan.allocation.preempting)),
    pending: texts(new Map([...ofQueue(pending.usage)].filter(([, amount]) => amount > 0))),
    waitingPods: pending.pods[index] as number,
    oldestWaiting: pending.oldest[index] === Infinity ? undefined : pending.oldest[index],
  };
}

function* pendingBelow({ directory: { tree }, held, seeking }: QueuePlan): Steps<Pending> {
  const own = new AmountsByQueue();
  const pods = tree.queues.map(() => 0);
  const oldest = tree.queues.map(() => Infinity);
  const add = (index: number, count: number, since: number): void => {
    pods[index] = (pods[index] as number) + count;
    oldest[index] = Math.min(oldest[index] as number, since);
  };
  for (const [at, { queue, requests, waitingSince }] of [...held, ...seeking].entries()) {
    own.add(queue, requests);
    add(tree.indexes.get(queue) ?? 0, 1, waitingSince);
    if (at % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
  }
  for (let index = pods.length - 1; index > 0; index -= 1) {
    add(tree.parents[index] as number, pods[index] as number, oldest[index] as number);
  }
  return { usage: sumUsage(tree, own.sums()), pods, oldest };
}

/** Leaves out resource types without an amount, except cpu and memory. */
function texts(amounts: QueueAmounts): Texts {
  const said = Array.from(amounts).filter(([type, amount]) => amount > 0 || type === 'cpu' || type === 'memory');
  const ordered = said.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_TYPES);
  return Object.fromEntries(ordered.map(([type, amount]) => [type, formatQuantity(queueQuantity(type, amount))]));
}

const DETACHED = {
  UnknownParent: (parent: string): string => `parent ${parent} does not exist; no pod is let in`,
  Cycle: (parent: string): string => `the parents of this queue form a cycle through ${parent}; no pod is let in`,
} as const;

function conditionsOf(object: QueueObject, plan: QueuePlan, uncovered: readonly string[]): readonly Condition[] {
  const { tree } = plan.directory;
  const { name, parent = ROOT_QUEUE } = object;
  const detached = tree.detached.get(name);
  const ready: Condition =
    detached === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'the queue lets pods in' }
      : { type: 'Ready', status: 'False', reason: detached, message: DETACHED[detached](parent) };
  const faults = ineffectiveSettings(writtenSettings(object), { tree, index: tree.indexes.get(name) ?? 0 });
  return [
    ready,
    judged('SettingsEffective', 'NoEffect', faults),
    ...guaranteeCondition(object, uncovered),
    ...doubtCondition(object, plan.doubts),
  ];
}

function isTop({ name, parent = ROOT_QUEUE }: QueueObject): boolean {
  return name === ROOT_QUEUE || parent === ROOT_QUEUE;
}

/**
 * Present only while a queue uses more than its maximum. A pod behind a gate never takes it there, but the API server
 * resizes running pods without asking a queue, and a maximum can be lowered.
 */
function overuseCondition({ name }: QueueObject, { directory: { tree }, used }: QueuePlan): readonly Condition[] {
  const said = whyOverused(tree, used, tree.indexes.get(name) ?? 0);
  if (said === undefined) return [];
  const message = `${said}: running pods were resized, had no gate, or the maximum was lowered; no further pod is let in until it is below`;
  return [{ type: 'AboveMaximum', status: 'True', reason: 'Overuse', message }];
}

/** Present only while a budget blocks reclaim. */
function blockedCondition(because: Because | undefined): readonly Condition[] {
  if (because === undefined) return [];
  return [{ type: 'ReclaimBlocked', status: 'True', reason: 'BudgetSpent', message: because.text }];
}

const MAX_NAMED = 5;

/** Present only while pods do not count for the queue that were let in, or cannot be let in. */
function returnedCondition(returned: readonly ReturnedShare[]): readonly Condition[] {
  const [first] = returned;
  if (first === undefined) return [];
  const named = returned
    .slice(0, MAX_NAMED)
    .map(({ pod, because }) => `${pod.namespace}/${pod.name} (${because.code})`);
  const more = returned.length > MAX_NAMED ? ` and ${returned.length - MAX_NAMED} more` : '';
  const message = `pods that get no node, are lost with theirs, or cannot be let in; their share is free for others: ${named.join(', ')}${more}`;
  return [{ type: 'SharesReturned', status: 'True', reason: first.because.code, message }];
}

/** Present only while a queue created from a template has no pods. */
function emptyCondition(isEmpty: boolean): readonly Condition[] {
  if (!isEmpty) return [];
  return [{ type: EMPTY_CONDITION, status: 'True', reason: 'NoPods', message: 'removed after one hour without pods' }];
}

/** On the root queue, and on each queue directly below it, because the root may not exist as an object. */
function guaranteeCondition(object: QueueObject, uncovered: readonly string[]): readonly Condition[] {
  return isTop(object) ? [judged('GuaranteesCovered', 'AboveCluster', uncovered)] : [];
}

const MAX_DOUBTS = 5;

/** Present only while the report of a node is not believed; where the guarantees are judged. */
function doubtCondition(object: QueueObject, doubts: readonly Because[]): readonly Condition[] {
  if (doubts.length === 0 || !isTop(object)) return [];
  const more = doubts.length > MAX_DOUBTS ? [`and ${doubts.length - MAX_DOUBTS} more`] : [];
  const message = [...doubts.slice(0, MAX_DOUBTS).map(({ text }) => text), ...more].join('; ');
  return [{ type: 'NodesDoubted', status: 'True', reason: 'NodeChanged', message }];
}

function judged(type: string, reason: string, faults: readonly string[]): Condition {
  if (faults.length === 0) return { type, status: 'True', reason: 'AsWritten', message: '' };
  return { type, status: 'False', reason, message: faults.join('; ') };
}
