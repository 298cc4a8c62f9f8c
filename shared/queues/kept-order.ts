import { sortInSteps } from '#shared/domain/model/sort-in-steps.ts';
import type { Steps } from '#shared/domain/model/steps.ts';

/** Items of which few change from one time to the next: the others keep their order, and need not be sorted again. */
export class KeptOrder<T> {
  readonly #compare: (a: T, b: T) => number;
  #items: readonly T[] = [];
  #added = new Set<T>();
  #removed = new Set<T>();

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Takes an item in that it does not have. */
  add(item: T): void {
    this.#added.add(item);
  }

  /** Leaves an item out that it has. */
  remove(item: T): void {
    if (!this.#added.delete(item)) this.#removed.add(item);
  }

  /** All items as they are when it begins; what changes meanwhile comes the next time. */
  *inOrder(): Steps<readonly T[]> {
    const removed = this.#removed;
    const items = [...this.#items.filter((item) => !removed.has(item)), ...this.#added];
    this.#items = items;
    this.#added = new Set();
    this.#removed = new Set();
    const sorted = yield* sortInSteps(items, this.#compare);
    if (this.#items === items) this.#items = sorted;
    return sorted;
  }
}
