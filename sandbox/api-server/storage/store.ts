import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { Change } from './change.ts';
import { Collection } from './collection.ts';
import { Revision, keyOf } from './revision.ts';

/** Called with every change of every collection, after it is stored. */
export type StoreListener = (storage: string, change: Change) => void;

/**
 * The objects of the cluster in memory, with one resourceVersion for all, as etcd has. Every method is synchronous:
 * what is read and written in one turn of the event loop is one transaction.
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

  /** Forgets all history up to now: earlier watches are answered 410, as after a compaction of etcd. */
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
    const change = new Change(collection.get(revision.key), revision, isRemoval);
    collection.apply(change);
    for (const listener of this.#listeners) listener(storage, change);
    return revision;
  }
}
