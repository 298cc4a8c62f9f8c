import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { apiVersionOf } from '#shared/kube/resource.ts';
import { type Backoff, backoffDelay } from '#shared/runtime/repeat.ts';
import type { KubeClient } from './client.ts';
import { createObject, getObject, type ObjectAddress, replaceObject } from './objects.ts';
import { expectOk } from './outcome.ts';

/** Random, growing pauses after conflicts: more requests arrive meanwhile and share the next write. */
export const CONFLICT_PAUSES: Backoff = { initialMs: 25, maxMs: 200, factor: 2, jitter: 1 };

/** How one process changes a value that several processes share. */
export interface Swap<Stored, Result> {
  /** Rejects if the value cannot be read. */
  readonly read: (timeoutMs: number) => Promise<Stored>;
  /** Returns the value to write, if any, and the result after the write. */
  readonly decide: (stored: Stored) => Promise<{ readonly next: Stored | undefined; readonly result: Result }>;
  /** False if another process was faster. Rejects if it is not known whether the value was written. */
  readonly write: (next: Stored, timeoutMs: number) => Promise<boolean>;
  /** Milliseconds until the last attempt. */
  readonly leftMs: () => number;
  /** Waits before the next attempt; without it, the next attempt follows at once. */
  readonly pause?: (ms: number) => Promise<void>;
  readonly random?: () => number;
}

/**
 * Reads a value, decides on it, and writes it unless another process has written it since. Retries until `leftMs` is 0;
 * `undefined` if the time is over. Decisions on outdated values never take effect.
 */
export async function compareAndSwap<Stored, Result>(swap: Swap<Stored, Result>): Promise<Result | undefined> {
  const { read, decide, write, leftMs, pause, random = Math.random } = swap;
  for (let conflicts = 0; leftMs() > 0; conflicts += 1) {
    const { next, result } = await decide(await read(leftMs()));
    if (next === undefined) return result;
    if (leftMs() <= 0) return undefined;
    if (await write(next, leftMs())) return result;
    await pause?.(Math.min(leftMs(), backoffDelay(CONFLICT_PAUSES, conflicts, random())));
  }
  return undefined;
}

/** A value from the status of an object, with the object; `raw` is absent if there is no object yet. */
export interface StoredStatus<T> {
  readonly value: T;
  readonly raw: KubeObject | undefined;
}

/** The encoding of a value in the status of its object. */
export interface StatusFormat<T> {
  readonly decode: (raw: KubeObject) => Decoded<T>;
  readonly encode: (value: T) => object;
  /** The value if the object does not exist. */
  readonly empty: T;
}

interface SwapOptions {
  readonly client: KubeClient;
  readonly fieldManager: string;
}

/** Reads and writes a value for `compareAndSwap`. The first write creates the object if it does not exist. */
export function statusStore<T>(
  { client, fieldManager }: SwapOptions,
  address: Omit<ObjectAddress, 'subresource'>,
  { decode, encode, empty }: StatusFormat<T>,
) {
  const what = `${address.resource.kind} "${address.namespace ?? ''}/${address.name}"`;
  const { namespace, name, resource } = address;
  const written = (kind: string, message: string): boolean => {
    if (kind === 'conflict' || kind === 'alreadyExists' || kind === 'notFound') return false;
    throw new Error(`cannot write ${what}: ${message}`);
  };
  const create = async (timeoutMs: number): Promise<KubeObject | undefined> => {
    const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { namespace, name } };
    const created = await createObject(client, { resource, namespace }, object, { timeoutMs, fieldManager });
    if (created.kind === 'ok') return created.object;
    written(created.kind, created.message);
    return undefined;
  };
  return {
    read: async (timeoutMs: number): Promise<StoredStatus<T>> => {
      const found = await getObject(client, address, { timeoutMs });
      if (found.kind === 'notFound') return { value: empty, raw: undefined };
      const raw = expectOk(found, `read ${what}`);
      const decoded = decode(raw);
      if (!decoded.ok) throw new Error(`cannot read ${what}: ${decoded.field}: ${decoded.message}`);
      return { value: decoded.value, raw };
    },
    write: async ({ value, raw }: StoredStatus<T>, timeoutMs: number): Promise<boolean> => {
      const base = raw ?? (await create(timeoutMs));
      if (base === undefined) return false;
      const options = { timeoutMs, fieldManager };
      const next = { ...base, status: encode(value) };
      const outcome = await replaceObject(client, { ...address, subresource: 'status' }, next, options);
      return outcome.kind === 'ok' || written(outcome.kind, outcome.message);
    },
  };
}
