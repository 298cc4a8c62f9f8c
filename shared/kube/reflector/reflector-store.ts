import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';
import { createNewestKeys } from './newest-keys.ts';
import { createUnseenKeys } from './unseen-keys.ts';

/** What happened to one object; `value` is its last known state when it was deleted. */
export interface Change<T> {
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly key: string;
  readonly value: T;
  /** What was modified; it may be another object of the same name, if a watch missed its deletion. */
  readonly previous?: T;
}

export type ChangeListener<T> = (change: Change<T>) => void;

/** Takes in the objects of one kind as a reflector reads them. None of its functions may throw. */
export interface ObjectSink {
  readonly set: (raw: KubeObject) => void;
  readonly remove: (raw: KubeObject) => void;
  /**
   * Begins a replacement by a fresh list: each object set from now on takes its predecessor's place at once, so that
   * the store is never held twice; the returned function removes what was not set.
   */
  readonly replace: () => () => void;
}

/** The slimmed objects of one kind by `namespace/name`, kept equal to the server's by a reflector. */
export interface ReflectorStore<T> extends ObjectSink {
  readonly get: (key: string) => T | undefined;
  readonly values: () => Iterable<T>;
  readonly size: number;
  /** Returns how to stop listening. */
  readonly onChange: (listener: ChangeListener<T>) => () => void;
}

export interface StoreOptions<T> {
  /** Keeps what is needed of an object; `undefined` keeps nothing. */
  readonly slim: (raw: KubeObject) => T | undefined;
  /** How many objects of one namespace are kept, those that changed last; all where absent. */
  readonly mostOfNamespace?: number | undefined;
  /** Called when `slim` or a listener throws; the store itself goes on. */
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
