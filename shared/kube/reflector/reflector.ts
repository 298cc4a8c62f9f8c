import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { createListWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';
import { type ChangeListener, createStore, type StoreOptions } from './reflector-store.ts';

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
