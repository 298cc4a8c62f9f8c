import type { Change } from './change.ts';
import { History } from './history.ts';
import type { Revision } from './revision.ts';

type Listener = (change: Change) => void;

/** All objects of one kind, the changes that led to them, and who wants to hear of the next one. */
export class Collection {
  readonly history: History;
  readonly #revisions = new Map<string, Revision>();
  readonly #listeners = new Set<Listener>();
  /** Sorted keys; undefined after a key came or went. */
  #sorted: readonly string[] | undefined;

  constructor(historyLimit: number, floor: number) {
    this.history = new History(historyLimit, floor);
  }

  get size(): number {
    return this.#revisions.size;
  }

  get(key: string): Revision | undefined {
    return this.#revisions.get(key);
  }

  /** In the order of keys, as lists show them. */
  values(): Revision[] {
    this.#sorted ??= Array.from(this.#revisions.keys()).sort();
    return this.#sorted.map((key) => this.#revisions.get(key)).filter((revision) => revision !== undefined);
  }

  /** Stores, records and tells one change. */
  apply(change: Change): void {
    const { key } = change.current;
    if (change.isRemoval || !this.#revisions.has(key)) this.#sorted = undefined;
    if (change.isRemoval) this.#revisions.delete(key);
    else this.#revisions.set(key, change.current);
    this.history.push(change);
    for (const listener of this.#listeners) listener(change);
  }

  /** Calls `listener` for each later change, until the returned function is called. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
