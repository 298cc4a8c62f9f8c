import { type KubeObject, objectKey } from '#shared/kube/kube-object.ts';

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
interface ReflectorStore<T> extends ObjectSink {
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

/** What a fresh list has not shown yet of what was there before it. */
interface UnseenKeys {
  /** The list, or a change after it, shows this key. */
  readonly see: (key: string) => void;
  /** Begins with these keys; the returned function ends it and removes those that were not seen. */
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

/** Keys of objects by their namespace, each namespace's in the order in which they changed last. */
interface NewestKeys {
  /** Notes a change; returns the key that its namespace now has too many of. */
  readonly add: (key: string) => string | undefined;
  readonly remove: (key: string) => void;
}

/** At most `most` keys of each namespace, so that what one tenant writes takes no room from others. */
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
