import type { Steps } from '#shared/domain/base/steps.ts';
import { addTo, minus, plus, smaller, type Whole } from '#shared/domain/quantity/whole.ts';
import { findObjection, TAKER_RULES } from './reclaim-rules.ts';
import { crowdedAmong, type LetInDecision, letInInSteps, type LetInQuestion } from './let-in.ts';
import { overusedQueues } from './overuse.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts, ROOT_QUEUE } from './queue.ts';
import type { WaitingPod } from './queue-pod.ts';
import type { ReclaimSettings } from './reclaim-settings.ts';
import type { QueueTree } from './queue-tree.ts';
import { createShares, deservedOf, type ShareState, treeOfShares } from './shares.ts';
import { createTaker, type Taker, takerLike } from './taker.ts';
import { AmountsByQueue, type QueueUsage, sumUsage, usedBy } from './usage.ts';

/*
 * One pass over the queues has two stages, both pure functions of a snapshot (S4-1). Preprocess computes what each
 * queue deserves, what it holds, and which queues hold more than their maximum. Preemption decides which waiting pods
 * are let in, and divides the total: what a queue may hold now, and what pods of other queues have to free for it
 * first. Each resource type is divided separately: the shares of all queues, and then their two parts, add up to the
 * total of the type (S4-15).
 */

/** The queues for which room is made: those under their guarantee, or those under what they deserve. */
export type ReclaimBy = ReclaimSettings['by'];

/** The input of one pass. Amounts are by queue name, for the queue's own pods. */
export interface PassSnapshot {
  readonly tree: QueueTree;
  readonly total: QueueAmounts;
  /**
   * What pods hold beside the total, on nodes that take no more pods. It is not shared, and yet what is free of the
   * total must not stay idle because of it.
   */
  readonly beyond?: QueueAmounts;
  /** What was let in, on a node or not. */
  readonly admitted: AmountsByName;
  /** What was let in and is on a node. */
  readonly used: AmountsByName;
  /** What was let in, gave its share back and may start at any time. */
  readonly latent?: AmountsByName;
  /** Requests of all pods, including waiting ones. */
  readonly requested: AmountsByName;
  readonly waiting: readonly WaitingPod[];
  readonly reclaimBy: ReclaimBy;
  /** Whether other pods may have to make room; otherwise each pod is let in if its queue has a share for it. */
  readonly isReclaiming: boolean;
}

type AmountsByName = ReadonlyMap<string, QueueAmounts>;

/**
 * How the total is divided, by resource type and number of the queue. The two parts of the root are the total; the part
 * that is not divided below the root is what no queue has or requests.
 */
export interface Allocation {
  readonly allocated: QueueUsage;
  /** What pods of other queues have to free first. */
  readonly preempting: QueueUsage;
}

export interface Preprocessed {
  /** What each queue deserves if idle guarantees are kept. */
  readonly shares: ShareState;
  /** What each queue deserves if idle guarantees are lent to queues that need them. */
  readonly lent: ShareState;
  /** What was let in. */
  readonly usage: QueueUsage;
  /** The part of it that is on a node. */
  readonly used: QueueUsage;
  /** The queues, by number, that must give back pods of their own because they hold more than their maximum (S4-3). */
  readonly overused: readonly number[];
}

export interface Preempted extends Pick<SplitLetIn, 'atOnce' | 'seeking' | 'crowded'> {
  /** The queues with the amounts that they are compared with when room is made. */
  readonly floors: QueueTree;
  readonly question: LetInQuestion;
  readonly decision: LetInDecision;
  /** The share of each queue. */
  readonly allocation: Allocation;
}

const NOTHING: AmountsByName = new Map();

/** The number of the queue root. */
const ROOT = 0;

/** The first stage: shares, holdings, and queues over their maximum. */
export function* preprocess({ tree, total, ...amounts }: PassSnapshot): Steps<Preprocessed> {
  const { requested } = amounts;
  const shares = yield* createShares({ tree, total, requested });
  const lent = yield* createShares({ tree, total, requested, idleGuarantees: 'Lent' });
  const usage = sumUsage(tree, amounts.admitted);
  const used = sumUsage(tree, amounts.used);
  yield;
  return { shares, lent, usage, used, overused: overusedQueues(tree, used) };
}

/**
 * The second stage: which pods are let in, for which pods others have to make room, and what each queue may hold
 * meanwhile. The share of a queue that has too much is lowered before its first pod is evicted, so that none of its
 * pods is let in (S4-6); what is free goes to the other queues at once, and the rest counts for them when it is freed
 * (S4-5, S4-8).
 */
export function* preempt(snapshot: PassSnapshot, { shares, lent, usage }: Preprocessed): Steps<Preempted> {
  const { tree, waiting, isReclaiming, beyond = NO_QUEUE_AMOUNTS } = snapshot;
  const allowed = new Map(tree.queues.map(({ name }, index) => [name, deservedOf(lent, index)]));
  allowed.set(ROOT_QUEUE, withAmounts(deservedOf(lent, ROOT), beyond));
  const question = { tree, usage, allowed, waiting, latent: sumUsage(tree, snapshot.latent ?? NOTHING) };
  const decision = yield* letInInSteps(question);
  const total = withAmounts(snapshot.total, beyond);
  const promised = { ...tree, total };
  const floors = snapshot.reclaimBy === 'Shares' ? { ...treeOfShares(shares, usage), promised } : promised;
  const { atOnce, seeking, preempting, crowded } = isReclaiming
    ? yield* splitLetInSteps({ ...question, tree: floors }, decision, total)
    : {
        atOnce: decision.letIn.map(({ pod }) => pod),
        seeking: [],
        preempting: new Map<string, QueueAmounts>(),
        crowded: new Set<string>(),
      };
  yield;
  const allocation = allocate({ tree, lent, decision }, preempting);
  const held = crowded.size === 0 ? decision.held : decision.held.filter(({ uid }) => !crowded.has(uid));
  return { floors, question, decision: { ...decision, held }, atOnce, seeking, crowded, allocation };
}

/** Of the types of the total. */
function withAmounts(total: QueueAmounts, more: QueueAmounts): QueueAmounts {
  if (more.size === 0) return total;
  return new Map(Array.from(total, ([type, amount]) => [type, plus(amount, more.get(type) ?? 0)]));
}

type Divided = Pick<Preempted, 'decision'> & Pick<Preprocessed, 'lent'> & { readonly tree: QueueTree };

/** Types that are not shared have no total: each queue has what its admitted pods use of them. */
function allocate({ tree, lent, decision }: Divided, own: AmountsByName): Allocation {
  const preempting = new Map(sumUsage(tree, own));
  const allocated = new Map(decision.usage);
  for (const [type, { deserved }] of lent.columns) {
    // What is freed on a node that is closed is no part of the total.
    const onTheWay = preempting.get(type)?.map((amount, index) => smaller(amount, deserved[index] ?? 0));
    if (onTheWay !== undefined) preempting.set(type, onTheWay);
    allocated.set(
      type,
      onTheWay === undefined ? deserved : deserved.map((amount, index) => minus(amount, onTheWay[index] ?? 0)),
    );
  }
  return { allocated, preempting };
}

/** The pods to let in, in two parts. */
export interface SplitLetIn {
  /** The sums show room for these, or no other pod has to make room. */
  readonly atOnce: readonly WaitingPod[];
  /** These would exceed the total, so other pods must be evicted first; their gate stays until there is room. */
  readonly seeking: readonly WaitingPod[];
  /** UIDs of those that the maximum of a queue above keeps out: they stay also where no room can be made. */
  readonly crowded: ReadonlySet<string>;
  /** What others have to free for those, by queue name: for each type only what exceeds the total. */
  readonly preempting: AmountsByName;
}

const PODS_PER_STEP = 500;
const LASTING_TAKER_RULES = TAKER_RULES.filter(({ code }) => code !== 'NotAboveDelay');

/**
 * Separates the pods for which room has to be made from those that are let in at once. Other queues hold more than they
 * deserve, so the shares admit pods for which there is no room; a gate cannot be put back, and while a pod is gated no
 * other pod can take the room that is made for it.
 */
export function* splitLetInSteps(
  question: LetInQuestion,
  decision: LetInDecision,
  total: QueueAmounts,
): Steps<SplitLetIn> {
  const { tree, usage } = question;
  const { letIn } = decision;
  const sums = new Map(Array.from(usage, ([type, amounts]) => [type, [...amounts]]));
  const split = { atOnce: [] as WaitingPod[], seeking: [] as WaitingPod[] };
  const preempting = new AmountsByQueue();
  const takers = new Map<string, Taker>();
  for (const [index, { pod }] of letIn.entries()) {
    if (index % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
    const taker = takerLike(takers.get(pod.queue), pod) ?? createTaker(tree, sums, pod, 0);
    takers.set(pod.queue, taker);
    const above = amountsAbove(sums, pod, total);
    const isSought = above.size > 0 && mayTake(taker);
    charge(tree, sums, taker, pod);
    (isSought ? split.seeking : split.atOnce).push(pod);
    if (isSought) preempting.add(pod.queue, above);
  }
  const crowded = new Set<string>();
  for (const pod of yield* crowdedAmong(question, decision)) {
    const taker = takerLike(takers.get(pod.queue), pod) ?? createTaker(tree, sums, pod, 0);
    takers.set(pod.queue, taker);
    if (!mayTake(taker)) continue;
    charge(tree, sums, taker, pod);
    split.seeking.push(pod);
    crowded.add(pod.uid);
  }
  return { ...split, crowded, preempting: preempting.sums() };
}

/** By the shares of queues, or by their guarantees, which come first. */
function mayTake(taker: Taker): boolean {
  const { promised } = taker.tree;
  if (findObjection(LASTING_TAKER_RULES, taker, taker) === undefined) return true;
  const byGuarantee = promised && { ...taker, tree: promised };
  return byGuarantee !== undefined && findObjection(LASTING_TAKER_RULES, byGuarantee, byGuarantee) === undefined;
}

function charge(tree: QueueTree, sums: Map<string, Whole[]>, { above }: Taker, { requests }: WaitingPod): void {
  for (const [type, amount] of requests) {
    const ofType = sums.get(type) ?? tree.queues.map((): Whole => 0);
    sums.set(type, ofType);
    for (const queue of above) addTo(ofType, queue, amount);
  }
}

/** By how much the pod's request exceeds the total; only the types that exceed it. */
function amountsAbove(sums: QueueUsage, { requests }: WaitingPod, total: QueueAmounts): QueueAmounts {
  const above = new Map<string, Whole>();
  for (const [type, amount] of requests) {
    const most = total.get(type);
    if (most === undefined) continue;
    const excess = smaller(amount, minus(plus(usedBy(sums, ROOT, type), amount), most));
    if (excess > 0) above.set(type, excess);
  }
  return above;
}
