import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { StoreChange } from './change.ts';
import { Revision, keyOf } from './revision.ts';

/** The last changes of one collection, bounded in number: what a watch can resume from. */
export class History {
  readonly #limit: number;
  /** The oldest resourceVersion a watch may resume from: changes after it are all here. */
  #floor: number;
  #changes: StoreChange[] = [];
  #start = 0;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  push(change: StoreChange): void {
    this.#changes.push(change);
    if (this.#changes.length - this.#start <= this.#limit) return;
    this.#floor = this.#changes[this.#start]?.number ?? this.#floor;
    this.#start += 1;
    if (this.#start > this.#limit) this.#compact();
  }

  /** The changes after `number`, oldest first; only right for `number >= floor`. */
  since(number: number): readonly StoreChange[] {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.number ?? 0) > number) high = middle;
      else low = middle + 1;
    }
    return this.#changes.slice(low);
  }

  /** Drops everything up to now, as a compaction does. */
  clear(floor: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#floor = floor;
  }

  #compact(): void {
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}

type Listener = (change: StoreChange) => void;

/** All objects of one kind, their recent changes, and the listeners for the next one. */
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

  /** Stores and records one change, and notifies listeners. */
  apply(change: StoreChange): void {
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

/** Called with every change of every collection, after it is stored. */
export type StoreListener = (storage: string, change: StoreChange) => void;

/**
 * The objects of the cluster in memory, with one resourceVersion for all, as in etcd. Every method is synchronous:
 * reads and writes in one turn of the event loop are one transaction.
 */
export class Store {
  readonly #historyLimit: number;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<StoreListener>();
  /** Starts above 1, because clients take 0 and 1 for special. */
  #revision = 100;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#revision;
  }

  collection(storage: string): Collection {
    const known = this.#collections.get(storage);
    if (known !== undefined) return known;
    const created = new Collection(this.#historyLimit, this.#revision);
    this.#collections.set(storage, created);
    return created;
  }

  /** Stores a new state of an object; it gets the next resourceVersion and must not be changed any more. */
  put(storage: string, object: KubeObject): Revision {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    return this.#commit(storage, new Revision(key, object, this.#next(object)), false);
  }

  /** Removes an object; `last` is the state that watchers see in the DELETED event. */
  remove(storage: string, last: KubeObject): Revision {
    const key = keyOf(last.metadata.namespace, last.metadata.name);
    const object = { ...last, metadata: { ...last.metadata } };
    return this.#commit(storage, new Revision(key, object, this.#next(object)), true);
  }

  /** Calls `listener` for every later change of any collection. */
  onChange(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Drops all history up to now: earlier watches get 410, as after a compaction of etcd. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.history.clear(this.#revision);
  }

  #next(object: KubeObject): number {
    this.#revision += 1;
    object.metadata.resourceVersion = String(this.#revision);
    return this.#revision;
  }

  #commit(storage: string, revision: Revision, isRemoval: boolean): Revision {
    const collection = this.collection(storage);
    const change = new StoreChange(collection.get(revision.key), revision, isRemoval);
    collection.apply(change);
    for (const listener of this.#listeners) listener(storage, change);
    return revision;
  }
}
