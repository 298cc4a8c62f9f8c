import type { QueueDirectory } from '#shared/domain/queueing/find-queue.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { minus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { ChildOf } from '#shared/domain/queue/child-queues.ts';
import {
  type PassSnapshot,
  preempt,
  type Preempted,
  preprocess,
  type Preprocessed,
} from '#shared/domain/queue/pass-stages.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { addAmounts, AmountsByQueue } from '#shared/domain/queue/usage.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { chargedQueue, type FindQueue, noteWanted, queueFinder, untracked } from './queue-finder.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';

/** What one look at the cluster comes to: that of the two stages, and what concerns no share. */
export interface QueuePlan
  extends
    Pick<Preprocessed, 'shares' | 'used' | 'overused'>,
    Pick<Preempted, 'floors' | 'question' | 'decision' | 'seeking' | 'allocation'> {
  readonly directory: QueueDirectory;
  readonly total: QueueAmounts;
  /** What the queue root declares. */
  readonly declared: QueueAmounts | undefined;
  /** The pods that go in now, in order. */
  readonly letIn: readonly WaitingPod[];
  /** The pods that stay, those for which room is sought left aside. */
  readonly held: readonly WaitingPod[];
  /** Pods that were let in and have no node. */
  readonly unplaced: readonly QueuedPod[];
  /** Gated pods of namespaces that are not managed (any longer): nothing holds them back. */
  readonly released: readonly QueuedPod[];
  /** Waiting pods without a queue, and why. */
  readonly homeless: readonly HomelessPod[];
  /** Queues that are to be made from a template, by name. */
  readonly wantedQueues: ReadonlyMap<string, ChildOf>;
  /** Names of the queues in which pods stand, waiting or let in. */
  readonly occupied: ReadonlySet<string>;
}

export interface HomelessPod {
  readonly pod: QueuedPod;
  readonly because: Because;
  /** Whether its queue is about to be made. */
  readonly isExpected: boolean;
}

export interface QueuePassInput extends Pick<PassSnapshot, 'reclaimBy' | 'isReclaiming'> {
  readonly pods: Pick<QueuedPods, 'open' | 'placed' | 'outside' | 'amountsOf' | 'lost'>;
  readonly now: Instant;
  /** Whether the replacements of disrupted pods go in before others of the same priority. */
  readonly replacements: 'First' | 'InTurn';
  readonly snapshot: Pick<ClusterSnapshot, 'namespaces' | 'nodes'>;
  readonly directory: QueueDirectory;
  /** What the queue root declares; `undefined` means what the nodes have. */
  readonly capacity: QueueAmounts | undefined;
}

const PODS_PER_STEP = 500;
/** Looking for a queue takes as long as so many other pods, where there are a thousand queues. */
const PODS_PER_SEARCH = 250;

/** Decides in two stages which pods go in now, and for which of them others have to make room. It changes nothing. */
export function* planPass(input: QueuePassInput): Steps<QueuePlan> {
  const { directory, capacity: declared } = input;
  const sorted = yield* sortPods(input);
  const outside = yield* sortUntracked(input, sorted);
  const snapshot = passSnapshot(input, sorted, declared ?? (yield* roomOfNodes(input, outside)));
  const preprocessed = yield* preprocess(snapshot);
  const { atOnce: letIn, ...preempted } = yield* preempt(snapshot, preprocessed);
  const { released, homeless, unplaced, wantedQueues } = sorted;
  return {
    ...{ directory, declared, total: snapshot.total, released, homeless, unplaced, wantedQueues },
    ...{ shares: preprocessed.shares, used: preprocessed.used, overused: preprocessed.overused },
    ...{ ...preempted, letIn, held: preempted.decision.held, occupied: new Set(snapshot.requested.keys()) },
  };
}

function passSnapshot({ directory, reclaimBy, isReclaiming }: QueuePassInput, sorted: SortedPods, total: QueueAmounts) {
  const { admitted, used, requested, waiting } = sorted;
  const sums = { admitted: admitted.sums(), used: used.sums(), requested: requested.sums() };
  return { tree: directory.tree, total, ...sums, waiting, reclaimBy, isReclaiming } satisfies PassSnapshot;
}

class SortedPods {
  readonly waiting: WaitingPod[] = [];
  readonly released: QueuedPod[] = [];
  readonly homeless: HomelessPod[] = [];
  readonly wantedQueues = new Map<string, ChildOf>();
  readonly unplaced: QueuedPod[] = [];
  readonly admitted = new AmountsByQueue();
  readonly used = new AmountsByQueue();
  /** Of all pods of the queue, waiting ones included. */
  readonly requested = new AmountsByQueue();
  readonly find: FindQueue;
  #work = 0;

  constructor(input: QueuePassInput) {
    const find = queueFinder(input, () => void (this.#work += PODS_PER_SEARCH));
    this.find = noteWanted(find, this.wantedQueues);
  }

  /** Counts a pod; whether so much was done that the pass should yield. */
  isStepDone(): boolean {
    this.#work += 1;
    if (this.#work < PODS_PER_STEP) return false;
    this.#work = 0;
    return true;
  }
}

function* sortPods(input: QueuePassInput): Steps<SortedPods> {
  const { pods, snapshot, now, replacements } = input;
  const sorted = new SortedPods(input);
  for (const sums of [sorted.admitted, sorted.used, sorted.requested]) sums.addAll(pods.placed);
  const isTurn = replacements === 'First' ? pods.lost.turns(now) : () => false;
  for (const pod of yield* pods.open()) {
    if (sorted.isStepDone()) yield;
    if (!isWaiting(pod)) charge(sorted, pod);
    else if (!isManaged(snapshot.namespaces.get(pod.namespace))) sorted.released.push(pod);
    else queue(sorted, pod, isTurn(pod));
  }
  return sorted;
}

/** A pod that was let in, or that never had the gate, takes room of its queue until it has ended. */
function charge({ admitted, used, requested, unplaced, find }: SortedPods, pod: QueuedPod): void {
  if (pod.admitted !== undefined && !pod.isBound) unplaced.push(pod);
  const name = chargedQueue(pod, find);
  for (const sums of pod.isBound ? [admitted, requested, used] : [admitted, requested]) sums.add(name, pod.requests);
}

function queue(sorted: SortedPods, pod: QueuedPod, goesFirst: boolean): void {
  const { waiting, homeless, requested, find } = sorted;
  const found = find(pod);
  if (found.kind === 'none') {
    homeless.push({ pod, because: found.because, isExpected: found.child !== undefined });
    return;
  }
  requested.add(found.name, pod.requests);
  const waits = pod.asWaiting(found.name);
  waiting.push(goesFirst ? { ...waits, goesFirst } : waits);
}

const allocatable = new WeakMap<Node, QueueAmounts>();

/** What a node has, in the amounts of queues. */
export function allocatableOf(node: Node): QueueAmounts {
  const amounts = allocatable.get(node) ?? queueAmounts(node.allocatable);
  allocatable.set(node, amounts);
  return amounts;
}

/** What the nodes have, less what pods outside of queues request there. */
function* roomOfNodes(input: QueuePassInput, outside: CountByAmounts): Steps<QueueAmounts> {
  const total = new Map<string, Whole>();
  for (const { node } of input.snapshot.nodes.values()) addAmounts(total, allocatableOf(node));
  yield;
  for (const [amounts, howMany] of outside) subtract(total, amounts, howMany);
  return total;
}

/** How many pods request these amounts. */
type CountByAmounts = ReadonlyMap<QueueAmounts, number>;

/**
 * Pods on nodes that are not among those of queues: they stand outside, or were there before their namespace was managed,
 * and then count for their queue. Returns those outside.
 */
function* sortUntracked(input: QueuePassInput, sorted: SortedPods): Steps<CountByAmounts> {
  const { snapshot, pods } = input;
  const outside = new Map<QueueAmounts, number>();
  for (const pod of pods.outside()) {
    if (sorted.isStepDone()) yield;
    const requests = pods.amountsOf(pod);
    if (!isManaged(snapshot.namespaces.get(pod.namespace))) outside.set(requests, (outside.get(requests) ?? 0) + 1);
    else chargeTo(sorted, chargedQueue(untracked(pod), sorted.find), requests);
  }
  return outside;
}

function chargeTo({ admitted, used, requested }: SortedPods, name: string, requests: QueueAmounts): void {
  for (const sums of [admitted, used, requested]) sums.add(name, requests);
}

function subtract(total: Map<string, Whole>, amounts: QueueAmounts, count: number): void {
  for (const [type, amount] of amounts) {
    const left = minus(total.get(type) ?? 0, times(amount, count));
    if (total.has(type)) total.set(type, left < 0 ? 0 : left);
  }
}
