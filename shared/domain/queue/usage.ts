import { minus, plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { QueueAmounts } from './queue.ts';
import type { QueueTree } from './queue-tree.ts';

/** What the pods of each queue and of all queues below it take, by resource type and number of the queue. */
export type QueueUsage = ReadonlyMap<string, readonly Whole[]>;

/** Adds amounts to a sum, type by type, in place. */
export function addAmounts(sum: Map<string, Whole>, amounts: QueueAmounts): void {
  for (const [type, amount] of amounts) sum.set(type, plus(sum.get(type) ?? 0, amount));
}

/** Takes amounts off a sum, type by type, in place. */
export function subtractAmounts(sum: Map<string, Whole>, amounts: QueueAmounts): void {
  for (const [type, amount] of amounts) sum.set(type, minus(sum.get(type) ?? 0, amount));
}

/** Amounts by queue name, of each queue's own pods. */
export class AmountsByQueue {
  readonly #sums = new Map<string, Map<string, Whole>>();
  /** How often amounts were added: many pods ask for the same, and the same object says so. */
  readonly #counts = new Map<string, Map<QueueAmounts, number>>();

  /** So many times; the amounts must not change any more. */
  add(queue: string, amounts: QueueAmounts, howOften = 1): void {
    let counts = this.#counts.get(queue);
    if (counts === undefined) this.#counts.set(queue, (counts = new Map<QueueAmounts, number>()));
    counts.set(amounts, (counts.get(amounts) ?? 0) + howOften);
  }

  get sums(): ReadonlyMap<string, QueueAmounts> {
    for (const [queue, counts] of this.#counts) this.#fold(queue, counts);
    this.#counts.clear();
    return this.#sums;
  }

  #fold(queue: string, counts: ReadonlyMap<QueueAmounts, number>): void {
    const sum = this.#sums.get(queue) ?? new Map<string, Whole>();
    this.#sums.set(queue, sum);
    for (const [amounts, count] of counts) {
      for (const [type, amount] of amounts) sum.set(type, plus(sum.get(type) ?? 0, times(amount, count)));
    }
  }
}

/** Adds up what the queues' own pods take, by queue name. A name that the tree does not have counts for the root. */
export function sumUsage(tree: QueueTree, own: ReadonlyMap<string, QueueAmounts>): QueueUsage {
  const usage = new Map<string, Whole[]>();
  for (const [name, amounts] of own) {
    for (const [type, amount] of amounts) {
      const sums = usage.get(type) ?? tree.queues.map((): Whole => 0);
      usage.set(type, sums);
      const index = tree.indexes.get(name) ?? 0;
      sums[index] = plus(sums[index] as Whole, amount);
    }
  }
  for (const sums of usage.values()) addToParents(tree, sums);
  return usage;
}

/** What a queue takes of one type. */
export function usedBy(usage: QueueUsage, index: number, type: string): Whole {
  return usage.get(type)?.[index] ?? 0;
}

/** A parent has a lower number than its children, so that each is complete when it is added. */
function addToParents({ parents }: QueueTree, sums: Whole[]): void {
  for (let index = sums.length - 1; index > 0; index -= 1) {
    const parent = parents[index] as number;
    sums[parent] = plus(sums[parent] as Whole, sums[index] as Whole);
  }
}
