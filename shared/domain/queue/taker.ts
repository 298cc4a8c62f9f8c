import type { Instant } from '#shared/domain/pod/pod.ts';
import { addTo, amountAt, larger, minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { WaitingPod } from './queue-pod.ts';
import { parentAt, pathOf, queueAt, type QueueTree } from './queue-tree.ts';
import { type QueueUsage, usedBy } from './usage.ts';

/** The pod for which room is sought, with precomputed facts about it. */
export interface Taker {
  readonly tree: QueueTree;
  /** What was let in, on a node or on its way to one. */
  readonly usage: QueueUsage;
  /** The part that is on a node: no other queue gives, or loses, more than that. */
  readonly bound: QueueUsage;
  readonly pod: WaitingPod;
  readonly now: Instant;
  /** Number of its queue. */
  readonly queue: number;
  /** Its queue and all queues above it, by number. */
  readonly above: ReadonlySet<number>;
  /** The resource types that it requests. */
  readonly types: readonly string[];
  /** Whether a type is short, as far as it was asked. */
  readonly short: Map<string, boolean>;
}

export function createTaker(tree: QueueTree, usage: QueueUsage, pod: WaitingPod, now: Instant): Taker {
  const queue = tree.indexes.get(pod.queue) ?? 0;
  const facts = { queue, above: new Set(pathOf(tree, queue)), types: typesOf(pod) };
  return { tree, usage, bound: usage, pod, now, ...facts, short: new Map() };
}

/** The same for another pod of the same queue. */
export function takerLike(taker: Taker | undefined, pod: WaitingPod): Taker | undefined {
  if (taker === undefined) return undefined;
  const types = taker.pod.requests === pod.requests ? taker.types : typesOf(pod);
  return { ...taker, pod, types, short: new Map() };
}

function typesOf({ requests }: WaitingPod): readonly string[] {
  return [...requests].filter(([, amount]) => amount > 0).map(([type]) => type);
}

/** What a queue has of a type: for the taker's own queue with what is on its way. */
export function heldBy({ usage, bound, queue: own }: Taker, queue: number, type: string): Whole {
  return usedBy(queue === own ? usage : bound, queue, type);
}

/** By how much a queue is over its guarantee; negative if it is under. */
export function excessOf(taker: Taker, queue: number, type: string): Whole {
  return minus(heldBy(taker, queue, type), taker.tree.queues[queue]?.guaranteed.get(type) ?? 0);
}

/**
 * What a queue keeps of a type when it gives pods for the taker; `undefined` if the type does not protect it. Queues
 * give by type (D-8), but a pod is evicted as a whole, with types that were not asked for.
 */
export function keptOf(taker: Taker, queue: number, type: string): Whole | undefined {
  const { guaranteed } = queueAt(taker.tree, queue);
  const floor = guaranteed.get(type);
  const own = floor === undefined || mayLose(taker, queue, type) ? undefined : floor;
  const { promised } = taker.tree;
  const guarantee = promised?.queues[queue]?.guaranteed.get(type);
  if (guarantee === undefined || !isShort(taker, type)) return own;
  return own === undefined ? guarantee : larger(own, guarantee);
}

/** Whether a queue may lose a type below its guarantee with a pod that is evicted for another type. */
function mayLose(taker: Taker, queue: number, type: string): boolean {
  const { contended } = taker.tree;
  // If no queue has more than its share of the type, it is there when the queue needs it.
  if (contended !== undefined) return !contended.has(type) && excessOf(taker, queue, type) < 0;
  return !isShort(taker, type) && isEntitled(taker);
}

/** Whether the taker's queue is under its guarantee of a type that is short and that the pod requests. */
export function isEntitled(taker: Taker): boolean {
  return taker.types.some((type) => excessOf(taker, taker.queue, type) < 0 && isShort(taker, type));
}

/**
 * Whether there is less of a type than queues use, with the pod, or were promised. Of other types each queue can have
 * its guarantee when it needs it, so an unused guarantee of them protects no pod. Without a total, each type is short.
 */
function isShort(taker: Taker, type: string): boolean {
  const known = taker.short.get(type);
  if (known !== undefined) return known;
  const { promised = taker.tree } = taker.tree;
  const total = promised.total?.get(type);
  const isScarce = total === undefined || neededOf(taker, promised, type) > total;
  taker.short.set(type, isScarce);
  return isScarce;
}

/** The sum over the queues of the larger of usage and guarantee, level by level. */
function neededOf(taker: Taker, tree: QueueTree, type: string): Whole {
  const more = taker.pod.requests.get(type) ?? 0;
  const used = tree.queues.map((_, index): Whole => {
    const before = usedBy(taker.usage, index, type);
    return taker.above.has(index) ? plus(before, more) : before;
  });
  /** By which the needs of the queues below exceed their usage. */
  const unmet = used.map((): Whole => 0);
  for (let index = used.length - 1; index > 0; index -= 1) {
    const own = plus(amountAt(used, index), amountAt(unmet, index));
    const needs = larger(own, queueAt(tree, index).guaranteed.get(type) ?? 0);
    addTo(unmet, parentAt(tree, index), minus(needs, amountAt(used, index)));
  }
  return plus(amountAt(used, 0), amountAt(unmet, 0));
}
