import { type Because, reason } from '#shared/domain/base/because.ts';
import { type Instant, isDaemonSetPod, type Pod } from '#shared/domain/pod/pod.ts';
import { larger, minus, smaller, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import { addAmounts, AmountsByQueue, subtractAmounts } from '#shared/domain/queue/usage.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { isLive } from '#shared/domain/quota/charge.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { compareRank, type PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Node, NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { isControlPlane, opennessOf, Pools } from './open-node.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';

/*
 * What the nodes have for queues, and what pods take there. No pod is believed further than its node goes: what pods
 * outside of queues request on a node takes at most what the node has beside the pods that were let in, and a pod on no
 * known node takes nothing, nor does one that its kubelet has not taken in and that does not fit there.
 */

export interface NodeRoomInput {
  readonly pods: Pick<QueuedPods, 'get' | 'outside' | 'ending' | 'amountsOf'>;
  /** The pods that wait, or were let in and have no node. */
  readonly open: readonly QueuedPod[];
  readonly snapshot: Pick<ClusterSnapshot, 'namespaces' | 'nodes' | 'occupancies' | 'daemonSets'>;
  readonly now: Instant;
  /** What a pod counts by its requests. */
  readonly counted: (requests: QueueAmounts) => QueueAmounts;
  /** What counts as a node's own; by default what it reports. */
  readonly believed?: ((node: Node) => QueueAmounts) | undefined;
}

export interface NodeRoom {
  /** What nodes that take new pods have, less what pods outside of queues take there. */
  readonly total: QueueAmounts;
  /** What pods of queues hold beyond that: on closed nodes, and where a node has less than was let in. */
  readonly beyond: QueueAmounts;
  /** The total with dedicated nodes for which there is no pod at present. */
  readonly possible: QueueAmounts;
  /** The types of which some node reports an amount, open or not; those of control planes left aside. */
  readonly reported: ReadonlySet<string>;
  /** What counts of pods on nodes that were not let in, by UID, where it is less than they request. */
  readonly capped: ReadonlyMap<string, QueueAmounts>;
  /** The counterpart of what no longer counts of pods on nodes that were let in, by queue. */
  readonly released: AmountsByQueue;
  /** The pods on nodes that count for nothing any more, and why. */
  readonly gone: readonly GonePod[];
}

interface GonePod {
  readonly pod: Pod;
  readonly because: Because;
}

interface LostNode {
  readonly node: string;
}

const NODE_LOST = reason<LostNode>(
  'NodeLost',
  ({ node }) =>
    `is on node ${node}, which is not ready: its share of the queue is free for others until the node is back`,
);
const NODE_GONE = reason<LostNode>(
  'NodeGone',
  ({ node }) => `is on node ${node}, which does not exist: its share of the queue is free for others`,
);
const NEVER_ENDS = reason<LostNode>(
  'NeverEnds',
  ({ node }) => `should have ended on node ${node} long ago: its share of the queue is free for others`,
);

/** As long as Kubernetes itself leaves pods on a node that is not ready, unless they tolerate that for longer. */
const LOST_AFTER_MS = 300_000;

const allocatable = new WeakMap<Node, QueueAmounts>();

/** What a node reports, in the amounts of queues. */
export function allocatableOf(node: Node): QueueAmounts {
  const amounts = allocatable.get(node) ?? queueAmounts(node.allocatable);
  allocatable.set(node, amounts);
  return amounts;
}

const NODES_PER_STEP = 500;
const PODS_PER_STEP = 2_000;

/** Reads each node, and pods one by one only where they take more than their node has, or hold a node that is closed. */
export function* readNodeRoom(input: NodeRoomInput): Steps<NodeRoom> {
  const { pods, snapshot } = input;
  const reading = new Reading(input);
  for (const pod of pods.ending()) if (!isLive(pod, input.now)) reading.release(pod, NEVER_ENDS);
  for (const [name, { pods: orphans }] of snapshot.occupancies) {
    if (!snapshot.nodes.has(name)) for (const { pod } of orphans) reading.releaseOrphan(pod);
  }
  let count = 0;
  for (const entry of snapshot.nodes.values()) {
    reading.addNode(entry);
    count += 1;
    if (count % NODES_PER_STEP === 0) yield;
  }
  for (const { pod, node } of pods.outside()) {
    reading.addOutside(pod, node);
    count += 1;
    if (count % PODS_PER_STEP === 0) yield;
  }
  return reading.result();
}

class Reading {
  readonly #input: NodeRoomInput;
  readonly #pools: Pools;
  readonly #total = new Map<string, Whole>();
  readonly #beyond = new Map<string, Whole>();
  readonly #dedicated = new Map<string, Whole>();
  readonly #reported = new Set<string>();
  readonly #capped = new Map<string, QueueAmounts>();
  readonly #released = new AmountsByQueue();
  /** Pods that hold nothing of a queue any more, though they are still there. */
  readonly #gone: GonePod[] = [];
  /** Nodes whose pods were read one by one. */
  readonly #read = new Set<string>();
  /** How many pods outside request these amounts, on the other nodes. */
  readonly #outside = new Map<QueueAmounts, number>();

  constructor(input: NodeRoomInput) {
    this.#input = input;
    this.#pools = new Pools((pod) => isDaemonSetPod(pod, input.snapshot.daemonSets), input);
  }

  release(pod: Pod, why: typeof NODE_LOST): void {
    if (this.#capped.has(pod.uid)) return;
    const facts = { node: pod.spec.nodeName ?? '' };
    const queued = this.#input.pods.get(pod.uid);
    if (isLetIn(queued)) this.#released.add(queued.admitted.queue, queued.requests, -1);
    this.#capped.set(pod.uid, NO_QUEUE_AMOUNTS);
    this.#gone.push({ pod, because: why(facts, facts) });
  }

  /**
   * A pod on a node that is not known. One that was let in and has not started may be on a node that is only about to be
   * seen: it counts as before it was bound, or its queue would pass its maximum.
   */
  releaseOrphan(pod: Pod): void {
    if (isStarted(pod) || !isLetIn(this.#input.pods.get(pod.uid))) this.release(pod, NODE_GONE);
  }

  addNode(entry: NodeEntry): void {
    const { node } = entry;
    if (isLost(node, this.#input.now)) this.#releaseAll(entry);
    const amounts = this.#input.believed?.(node) ?? allocatableOf(node);
    if (!isControlPlane(node)) for (const type of amounts.keys()) this.#reported.add(type);
    const isOpen = this.#isOpen(node);
    if (isOpen && amounts === allocatableOf(node) && !isOverClaimed(entry)) addAmounts(this.#total, amounts);
    else this.#readPods(entry, amounts, isOpen);
  }

  #releaseAll({ occupancy }: NodeEntry): void {
    const { namespaces } = this.#input.snapshot;
    for (const { pod } of occupancy.pods) if (isManaged(namespaces.get(pod.namespace))) this.release(pod, NODE_LOST);
  }

  addOutside(pod: Pod, node: string): void {
    const { snapshot, pods } = this.#input;
    if (isManaged(snapshot.namespaces.get(pod.namespace)) || this.#read.has(node) || !snapshot.nodes.has(node)) return;
    this.#subtract(this.#input.counted(pods.amountsOf(pod)));
  }

  result(): NodeRoom {
    for (const { pod } of this.#gone) this.#subtractGone(pod);
    for (const [amounts, count] of this.#outside) subtractDownToZero(this.#total, amounts, count);
    const possible = new Map(this.#total);
    addAmounts(possible, this.#dedicated);
    const [total, beyond, reported] = [this.#total, this.#beyond, this.#reported];
    return { total, beyond, possible, reported, capped: this.#capped, released: this.#released, gone: this.#gone };
  }

  #isOpen(node: Node): boolean {
    const openness = opennessOf(node);
    return openness === 'Open' || (openness === 'Dedicated' && this.#pools.isInUse(node));
  }

  #subtract(amounts: QueueAmounts): void {
    this.#outside.set(amounts, (this.#outside.get(amounts) ?? 0) + 1);
  }

  /** It may still take room of its node, as a pod outside of queues does. */
  #subtractGone(pod: Pod): void {
    const node = pod.spec.nodeName ?? '';
    if (!isManaged(this.#input.snapshot.namespaces.get(pod.namespace)) || this.#read.has(node)) return;
    if (this.#input.snapshot.nodes.has(node)) subtractDownToZero(this.#total, this.#input.pods.amountsOf(pod), 1);
  }

  #readPods({ node, occupancy }: NodeEntry, amounts: QueueAmounts, isOpen: boolean): void {
    this.#read.add(node.name);
    const { held, room } = this.#takenOn(
      occupancy.pods.toSorted(compareTakers).map(({ pod }) => pod),
      amounts,
    );
    if (!isControlPlane(node)) for (const type of amounts.keys()) this.#total.set(type, this.#total.get(type) ?? 0);
    if (isOpen) addAmounts(this.#total, room);
    else if (opennessOf(node) === 'Dedicated') addAmounts(this.#dedicated, room);
    addAmounts(this.#beyond, isOpen ? above(held, room) : held);
  }

  /** Pods that were let in come first, and the others share what they leave. */
  #takenOn(pods: readonly Pod[], amounts: QueueAmounts) {
    const held = new Map<string, Whole>();
    const room = new Map(amounts);
    const left = new Map(amounts);
    const others: Pod[] = [];
    for (const pod of pods) {
      const queued = this.#input.pods.get(pod.uid);
      if (!isLetIn(queued) || this.#capped.has(pod.uid)) {
        others.push(pod);
        continue;
      }
      addAmounts(held, queued.requests);
      subtractAmounts(left, queued.requests);
    }
    for (const pod of others) {
      const requests = this.#input.pods.amountsOf(pod);
      const taken = takenBy(pod, requests, left);
      subtractAmounts(left, taken);
      if (!this.#isCharged(pod)) subtractDownToZero(room, taken, 1);
      else addAmounts(held, taken);
      if (this.#isCharged(pod) && taken !== requests) this.#capped.set(pod.uid, taken);
    }
    return { held, room };
  }

  #isCharged({ uid, namespace }: Pod): boolean {
    return isManaged(this.#input.snapshot.namespaces.get(namespace)) && !this.#capped.has(uid);
  }
}

/**
 * What a kubelet has taken in is there, and the others share what these leave. Then the most important first; of equals not
 * the one that the watch showed first, or another leader would count otherwise.
 */
function compareTakers(a: PlacedPod, b: PlacedPod): number {
  const started = Number(isStarted(b.pod)) - Number(isStarted(a.pod));
  return started || compareRank(a, b) || compareTexts(a.pod.uid, b.pod.uid);
}

/** What its pods hold counts again when it is back. */
export function isLost({ isUnready, unreadySince }: Node, now: Instant): boolean {
  return isUnready === true && unreadySince !== undefined && now - unreadySince > LOST_AFTER_MS;
}

/** On a node, and let in by the leader of the queues. */
function isLetIn(pod: QueuedPod | undefined): pod is QueuedPod & { readonly admitted: object } {
  return pod?.admitted !== undefined && pod.isBound && !isWaiting(pod);
}

function isOverClaimed({ allocatable: has, occupancy: { requested } }: NodeEntry): boolean {
  return requested.some((amount, column) => amount > (has[column] ?? 0));
}

function isStarted({ status }: Pod): boolean {
  return status.startTime !== undefined || status.phase !== 'Pending';
}

/** A pod that its kubelet has not taken in and that does not fit is about to be rejected: any tenant can name a node. */
function takenBy(pod: Pod, requests: QueueAmounts, left: QueueAmounts): QueueAmounts {
  const taken = within(requests, left);
  return taken === requests || isStarted(pod) ? taken : NO_QUEUE_AMOUNTS;
}

/** The same object if all of it is there. */
function within(amounts: QueueAmounts, left: QueueAmounts): QueueAmounts {
  const isAll = Array.from(amounts).every(([type, amount]) => amount <= (left.get(type) ?? 0));
  if (isAll) return amounts;
  return new Map(Array.from(amounts, ([type, amount]) => [type, larger(0, smaller(amount, left.get(type) ?? 0))]));
}

function above(amounts: QueueAmounts, limits: QueueAmounts): QueueAmounts {
  const more = Array.from(amounts, ([type, amount]) => [type, minus(amount, limits.get(type) ?? 0)] as const);
  return new Map(more.filter(([, amount]) => amount > 0));
}

function subtractDownToZero(sum: Map<string, Whole>, amounts: QueueAmounts, count: number): void {
  for (const [type, amount] of amounts) {
    const before = sum.get(type);
    if (before !== undefined) sum.set(type, larger(0, minus(before, times(amount, count))));
  }
}
