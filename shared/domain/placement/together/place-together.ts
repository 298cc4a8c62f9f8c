import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { compareTexts, podName } from '#shared/domain/base/texts.ts';
import { NO_PLAN, NOT_SEEN } from '#shared/domain/gang/messages.ts';
import { isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { quantityFromInteger, quantityFromMilli } from '#shared/domain/quantity/quantity.ts';
import { isInBytes } from '#shared/domain/quantity/resource-columns.ts';
import { isFixed, largestHole, NodeRooms, type PodToPlace, readPodsToPlace } from './node-rooms.ts';
import type { Need } from '#shared/domain/placement/filters/node-filters.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';

/*
 * Nodes for pods that are to start together, by the filters that look at a node and by what the pods take. What depends
 * on where the other pods are put, and what is not modelled, is not seen to fit.
 */

export interface TogetherQuestion {
  readonly snapshot: ClusterSnapshot;
  readonly pods: readonly Pod[];
  /** Pods that are about to get a node, whatever the snapshot nominates them to, by UID. */
  readonly expected?: ReadonlyMap<string, ExpectedPod>;
}

export interface ExpectedPod {
  readonly pod: Pod;
  readonly node: string;
}

/** The node of each pod, by UID. */
export type NodeOf = ReadonlyMap<string, string>;

export type TogetherPlan =
  { readonly kind: 'Placed'; readonly nodeOf: NodeOf } | { readonly kind: 'None'; readonly because: Because };

/** Comparisons of a pod with a node in one step, some milliseconds. */
const TRIALS_PER_STEP = 100_000;
/** Pods of other kinds that are moved aside in one plan, so that a plan without a solution ends. */
const MAX_REPAIRS = 200;

/**
 * A node for each of the pods, or none for any: the largest first, each to the node on which it leaves the least, so
 * that pods of one kind fill a node before the next. Where a pod finds none, one that was put before it makes place.
 */
export function* placeTogether(question: TogetherQuestion): Steps<TogetherPlan> {
  for (const pod of question.pods) {
    const unseen = isFixed(pod, question.snapshot);
    if (unseen !== undefined) return notSeen(pod, unseen);
  }
  const rooms = yield* roomsOf(question);
  const pods = yield* readPodsToPlace(question, rooms);
  const plan = new Plan(rooms);
  let repairs = 0;
  for (const pod of inOrder(pods, rooms)) {
    if (plan.count(rooms.entries.length) >= TRIALS_PER_STEP) {
      plan.rest();
      yield;
    }
    if (plan.putTightest(pod)) continue;
    repairs += 1;
    if (repairs > MAX_REPAIRS || !(yield* plan.putByMoving(pod))) return noPlan(plan.placed, pods.length, pod, rooms);
  }
  return { kind: 'Placed', nodeOf: plan.nodeOf() };
}

/** Whether each pod still fits on its node, together with the others: the last look before they start. */
export function* fitTogether(question: TogetherQuestion, nodeOf: NodeOf): Steps<boolean> {
  const rooms = yield* roomsOf(question);
  for (const each of yield* readPodsToPlace(question, rooms)) {
    const index = rooms.indexOf(nodeOf.get(each.pod.uid) ?? '');
    if (index === undefined || each.kind.allowed[index] !== 1 || !rooms.isEnough(index, each.needs)) return false;
    rooms.take(index, each.needs, 1);
  }
  return true;
}

function* roomsOf({ snapshot, pods, expected = new Map<string, ExpectedPod>() }: TogetherQuestion): Steps<NodeRooms> {
  const own = new Set(pods.map(({ uid }) => uid));
  // An expected pod may be nominated to another node still, by a leader that ended: it counts at both until that is off.
  const isCounted = (uid: string, node: string): boolean => !own.has(uid) && expected.get(uid)?.node !== node;
  const rooms = yield* NodeRooms.read(snapshot, isCounted);
  for (const [uid, { pod, node }] of expected) {
    const placed = snapshot.placedPods.get(uid);
    if (!own.has(uid) && (placed === undefined || !isBound(placed.pod))) rooms.expect(pod, node, snapshot);
  }
  return rooms;
}

/** The largest share of a node first; of equals those that fewer nodes take. */
function inOrder(pods: readonly PodToPlace[], rooms: NodeRooms): readonly PodToPlace[] {
  const sizes = new Map(pods.map((each) => [each, rooms.shareOf(each.needs)]));
  return pods.toSorted(
    (a, b) =>
      (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) ||
      a.kind.allowedCount - b.kind.allowedCount ||
      compareTexts(a.pod.uid, b.pod.uid),
  );
}

interface Put {
  readonly pod: PodToPlace;
  index: number;
}

class Plan {
  readonly #rooms: NodeRooms;
  readonly #puts: Put[] = [];
  #trials = 0;
  /** The node that the last pod got, which stays the tightest for another one of its size. */
  #last: Put | undefined;

  constructor(rooms: NodeRooms) {
    this.#rooms = rooms;
  }

  get placed(): number {
    return this.#puts.length;
  }

  nodeOf(): NodeOf {
    return new Map(this.#puts.map(({ pod, index }) => [pod.pod.uid, this.#rooms.entries[index]?.node.name ?? '']));
  }

  /** Comparisons since the last rest, with those of a pod that has to be compared with each node. */
  count(more: number): number {
    return this.#trials + more;
  }

  rest(): void {
    this.#trials = 0;
  }

  putTightest(pod: PodToPlace): boolean {
    const last = this.#last;
    const isAsLast = last !== undefined && last.pod.kind === pod.kind && areSame(last.pod.needs, pod.needs);
    const index = isAsLast && this.#fits(pod, last.index) ? last.index : this.#tightest(pod);
    if (index === undefined) return false;
    this.#put({ pod, index });
    return true;
  }

  /** Moves one pod that was put before, from a node that then has room for this one. */
  *putByMoving(pod: PodToPlace): Steps<boolean> {
    for (const moved of this.#puts) {
      const from = moved.index;
      if (pod.kind.allowed[from] !== 1) continue;
      this.#rooms.take(from, moved.pod.needs, -1);
      const to = this.#fits(pod, from) ? this.#tightest(moved.pod, from) : undefined;
      if (to !== undefined) {
        moved.index = to;
        this.#rooms.take(to, moved.pod.needs, 1);
        this.#put({ pod, index: from });
        return true;
      }
      this.#rooms.take(from, moved.pod.needs, 1);
      if (this.#trials >= TRIALS_PER_STEP) {
        this.rest();
        yield;
      }
    }
    return false;
  }

  #put(put: Put): void {
    this.#rooms.take(put.index, put.pod.needs, 1);
    this.#puts.push(put);
    this.#last = put;
  }

  #fits({ kind, needs }: PodToPlace, index: number): boolean {
    return kind.allowed[index] === 1 && this.#rooms.isEnough(index, needs);
  }

  #tightest(pod: PodToPlace, except?: number): number | undefined {
    this.#trials += this.#rooms.entries.length;
    return this.#rooms.tightest(pod, except);
  }
}

function areSame(a: readonly Need[], b: readonly Need[]): boolean {
  return a === b || (a.length === b.length && a.every((need, at) => isSame(need, b[at])));
}

function isSame({ column, amount }: Need, other: Need | undefined): boolean {
  return other !== undefined && column === other.column && amount === other.amount;
}

function notSeen(pod: Pod, what: string): TogetherPlan {
  const facts = { pod: podName(pod), what };
  return { kind: 'None', because: NOT_SEEN(facts, { ...facts }) };
}

/** What is missing is told of the resource of which nodes have least, in parts of what the pod needs. */
function noPlan(placed: number, pods: number, pod: PodToPlace, rooms: NodeRooms): TogetherPlan {
  const { need, hole } = largestHole(pod, rooms);
  const type = need?.resource ?? 'pods';
  const text = (amount: number): string => `${amountText(type, amount)} ${type}`;
  const facts = { placed, pods, needed: text(Number(need?.amount ?? 1)), hole: text(hole) };
  return { kind: 'None', because: NO_PLAN(facts, { ...facts }) };
}

function amountText(type: string, amount: number): string {
  if (type === 'cpu') return formatQuantity(quantityFromMilli(amount, 'DecimalSI'));
  return formatQuantity(quantityFromInteger(amount, isInBytes(type) ? 'BinarySI' : 'DecimalSI'));
}
