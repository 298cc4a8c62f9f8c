import { addTo, amountAt, minus, plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { Queue, QueueAmounts } from './queue.ts';
import { parentAt, type QueueTree } from './queue-tree.ts';

/** What the pods of each queue and of all queues below it use, by resource type and number of the queue. */
export type QueueUsage = ReadonlyMap<string, readonly Whole[]>;

/** Adds amounts to a sum, type by type, in place. */
export function addAmounts(sum: Map<string, Whole>, amounts: QueueAmounts): void {
  for (const [type, amount] of amounts) sum.set(type, plus(sum.get(type) ?? 0, amount));
}

/** What pods request together. */
export function totalRequests(pods: readonly { readonly requests: QueueAmounts }[]): QueueAmounts {
  const total = new Map<string, Whole>();
  for (const { requests } of pods) addAmounts(total, requests);
  return total;
}

/** Subtracts amounts from a sum, type by type, in place. */
export function subtractAmounts(sum: Map<string, Whole>, amounts: QueueAmounts): void {
  for (const [type, amount] of amounts) sum.set(type, minus(sum.get(type) ?? 0, amount));
}

/** Amounts by queue name, for each queue's own pods. */
export class AmountsByQueue {
  /** How often amounts were added: many pods have the same requests and share one object. */
  readonly #counts = new Map<string, Map<QueueAmounts, number>>();

  /** The amounts must not change afterwards. A negative count subtracts what was added before. */
  add(queue: string, amounts: QueueAmounts, count = 1): void {
    let counts = this.#counts.get(queue);
    if (counts === undefined) this.#counts.set(queue, (counts = new Map<QueueAmounts, number>()));
    const sum = (counts.get(amounts) ?? 0) + count;
    if (sum !== 0) counts.set(amounts, sum);
    else if (counts.delete(amounts) && counts.size === 0) this.#counts.delete(queue);
  }

  /** Adds all that was added to the other, each as what `counted` makes of it. */
  addAll(other: AmountsByQueue, counted: (amounts: QueueAmounts) => QueueAmounts = (amounts) => amounts): void {
    for (const [queue, counts] of other.#counts) {
      for (const [amounts, count] of counts) this.add(queue, counted(amounts), count);
    }
  }

  /** Without queues from which everything was subtracted. */
  sums(): ReadonlyMap<string, QueueAmounts> {
    return new Map(Array.from(this.#counts, ([queue, counts]) => [queue, sumOf(counts)]));
  }
}

function sumOf(counts: ReadonlyMap<QueueAmounts, number>): QueueAmounts {
  const sum = new Map<string, Whole>();
  for (const [amounts, count] of counts) {
    for (const [type, amount] of amounts) sum.set(type, plus(sum.get(type) ?? 0, times(amount, count)));
  }
  return sum;
}

/** Adds up what the queues' own pods use, by queue name. An unknown name counts for the root. */
export function sumUsage(tree: QueueTree, own: ReadonlyMap<string, QueueAmounts>): QueueUsage {
  const usage = new Map<string, Whole[]>();
  for (const [name, amounts] of own) {
    for (const [type, amount] of amounts) {
      const sums = usage.get(type) ?? tree.queues.map((): Whole => 0);
      usage.set(type, sums);
      const index = tree.indexes.get(name) ?? 0;
      addTo(sums, index, amount);
    }
  }
  for (const sums of usage.values()) addToParents(tree, sums);
  return usage;
}

/** A copy that may change. */
export function copyUsage(usage: QueueUsage): Map<string, Whole[]> {
  return new Map(Array.from(usage, ([type, sums]) => [type, [...sums]]));
}

/** Adds amounts to each queue of a path, in place. */
export function addToPath(
  usage: Map<string, Whole[]>,
  { queues }: Pick<QueueTree, 'queues'>,
  path: readonly number[],
  amounts: QueueAmounts,
): void {
  for (const [type, amount] of amounts) {
    const sums = usage.get(type) ?? queues.map((): Whole => 0);
    usage.set(type, sums);
    for (const index of path) addTo(sums, index, amount);
  }
}

/** What a queue uses of one type. */
export function usedBy(usage: QueueUsage, index: number, type: string): Whole {
  return usage.get(type)?.[index] ?? 0;
}

/** Types in which a queue is above its maximum, and by how much. */
export type QueueExcess = readonly (readonly [type: string, amount: Whole])[];

/** The types in which a queue with this usage exceeds its maximum. */
export function aboveMaximum({ max }: Queue, types: Iterable<string>, takenOf: (type: string) => Whole): QueueExcess {
  const excess: (readonly [string, Whole])[] = [];
  if (max.size === 0) return excess;
  for (const type of types) {
    const most = max.get(type);
    const above = most === undefined ? 0 : minus(takenOf(type), most);
    if (above > 0) excess.push([type, above]);
  }
  return excess;
}

/** A parent has a lower number than its children, so that each is complete when it is added. */
function addToParents(tree: QueueTree, sums: Whole[]): void {
  for (let index = sums.length - 1; index > 0; index -= 1) {
    addTo(sums, parentAt(tree, index), amountAt(sums, index));
  }
}
