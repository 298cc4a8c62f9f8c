import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { createListWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';
import type { ObjectSink } from './reflector-target.ts';

export interface ReflectorOptions<T> extends ListWatchOptions, Pick<StoreOptions<T>, 'mostOfNamespace'> {
  /** Returns the parts of an object to keep; `undefined`, or throwing, keeps nothing. */
  readonly slim: (raw: KubeObject) => T | undefined;
}

/** A live, slimmed copy of one kind of objects. */
export interface Reflector<T> extends ListWatch {
  /** By `namespace/name`, or `name` for cluster-scoped objects. */
  get(key: string): T | undefined;
  values(): Iterable<T>;
  readonly size: number;
  /**
   * Calls back on every change. An error in the listener is logged and has no other effect. Returns a function that
   * stops it.
   */
  onChange(listener: ChangeListener<T>): () => void;
}

/**
 * A reflector on raw JSON, because the client library's informer stops after some errors. It does nothing before `run`.
 */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector<T> {
  const { listWatch, sink: store } = createListWatch(options, (onError) =>
    createStore({ slim: options.slim, mostOfNamespace: options.mostOfNamespace, onError }),
  );
  return {
    run: (signal) => listWatch.run(signal),
    synced: listWatch.synced,
    isSynced: () => listWatch.isSynced(),
    lastContactMs: () => listWatch.lastContactMs(),
    position: () => listWatch.position(),
    get: store.get,
    values: store.values,
    get size() {
      return store.size;
    },
    onChange: store.onChange,
  };
}

/** A value computed from the objects of reflectors, recomputed only after one of them has changed. */
export function derived<A extends readonly unknown[], T>(
  reflectors: readonly Pick<Reflector<unknown>, 'onChange'>[],
  compute: (...args: A) => T,
): (...args: A) => T {
  let kept: { readonly value: T } | undefined;
  for (const reflector of reflectors) reflector.onChange(() => (kept = undefined));
  return (...args) => (kept ??= { value: compute(...args) }).value;
}

/** The same decoder, but it throws on an error: a reflector counts and logs the errors of its `slim`. */
export function decodeWith<T>(decode: (raw: unknown) => Decoded<T>): (raw: unknown) => T {
  return (raw) => {
    const decoded = decode(raw);
    if (decoded.ok) return decoded.value;
    throw new Error(`${decoded.field}: ${decoded.message}`);
  };
}

/** A change of one object; `value` is its last known state if it was deleted. */
export interface Change<T> {
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly key: string;
  readonly value: T;
  /** The modified object; it may be another object of the same name, if a watch missed the deletion. */
  readonly previous?: T;
}

export type ChangeListener<T> = (change: Change<T>) => void;

/** The slimmed objects of one kind by `namespace/name`, kept equal to the server's by a reflector. */
interface ReflectorStore<T> extends ObjectSink {
  readonly get: (key: string) => T | undefined;
  readonly values: () => Iterable<T>;
  readonly size: number;
  /** Returns a function that removes the listener. */
  readonly onChange: (listener: ChangeListener<T>) => () => void;
}

interface StoreOptions<T> {
  /** Returns the parts of an object to keep; `undefined` keeps nothing. */
  readonly slim: (raw: KubeObject) => T | undefined;
  /** Maximum objects to keep per namespace, most recently changed first; all if absent. */
  readonly mostOfNamespace?: number | undefined;
  /** Called if `slim` or a listener throws; the store itself continues. */
  readonly onError: (error: unknown, what: string) => void;
}

/** An empty store. */
export function createStore<T>({ slim, mostOfNamespace, onError }: StoreOptions<T>): ReflectorStore<T> {
  const objects = new Map<string, T>();
  const newest = mostOfNamespace === undefined ? undefined : createNewestKeys(mostOfNamespace);
  const listeners = new Set<ChangeListener<T>>();
  const unseen = createUnseenKeys(forget);

  function notify(change: Change<T>): void {
    for (const listener of listeners) guarded(() => listener(change), `listener failed on ${change.key}`);
  }

  function guarded<R>(action: () => R, what: string): R | undefined {
    try {
      return action();
    } catch (error) {
      onError(error, what);
      return undefined;
    }
  }

  function set(raw: KubeObject): void {
    const key = objectKey(raw.metadata);
    const value = guarded(() => slim(raw), `object ${key} cannot be read`);
    if (value === undefined) {
      forget(key);
      return;
    }
    const previous = objects.get(key);
    unseen.see(key);
    objects.set(key, value);
    const surplus = newest?.add(key);
    if (surplus !== undefined) forget(surplus);
    notify(previous === undefined ? { kind: 'added', key, value } : { kind: 'modified', key, value, previous });
  }

  function forget(key: string): void {
    const value = objects.get(key);
    if (value === undefined) return;
    objects.delete(key);
    newest?.remove(key);
    notify({ kind: 'deleted', key, value });
  }

  return {
    get: (key) => objects.get(key),
    values: () => objects.values(),
    get size() {
      return objects.size;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set,
    remove: (raw) => forget(objectKey(raw.metadata)),
    replace: () => unseen.begin(objects.keys()),
  };
}

/** The keys that were present before a fresh list and that the list has not shown yet. */
interface UnseenKeys {
  /** The list, or a change after it, contains this key. */
  readonly see: (key: string) => void;
  /** Starts with these keys; the returned function ends the list and removes keys that were not seen. */
  readonly begin: (keys: Iterable<string>) => () => void;
}

/** Nothing is unseen before `begin`. */
export function createUnseenKeys(remove: (key: string) => void): UnseenKeys {
  let unseen: Set<string> | undefined;
  return {
    see: (key) => void unseen?.delete(key),
    begin: (keys) => {
      const begun = new Set(keys);
      unseen = begun;
      return () => {
        unseen = undefined;
        begun.forEach(remove);
      };
    },
  };
}

/** Keys of objects by namespace, each namespace's in the order of their last change. */
interface NewestKeys {
  /** Records a change; returns the key to drop if its namespace now has too many. */
  readonly add: (key: string) => string | undefined;
  readonly remove: (key: string) => void;
}

/** At most `most` keys per namespace, so that the objects of one tenant do not displace those of others. */
function createNewestKeys(most: number): NewestKeys {
  const byNamespace = new Map<string, Set<string>>();
  return {
    add: (key) => {
      const keys = byNamespace.get(namespaceOf(key)) ?? new Set();
      byNamespace.set(namespaceOf(key), keys);
      keys.delete(key);
      const [oldest] = keys.add(key);
      return keys.size > most ? oldest : undefined;
    },
    remove: (key) => {
      const keys = byNamespace.get(namespaceOf(key));
      keys?.delete(key);
      if (keys?.size === 0) byNamespace.delete(namespaceOf(key));
    },
  };
}

function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}
