import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { failureOf, type Failure, type Outcome } from '#shared/kube/client/outcome.ts';

/** What goes wrong on one list or watch. `after` counts the events or items that still come through. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'unreachable' }
  | { readonly kind: StreamFault; readonly after: number };

export type StreamFault =
  | 'end'
  | 'truncate'
  | 'reset'
  | 'badLine'
  | 'unknownType'
  | 'errorWithoutCode'
  | 'goneInStream'
  | 'noVersion'
  | 'silence';

/** The lists and watches of one kind, in memory, with faults on demand; versions are opaque text unless they are to be numbers. */
export interface WatchServer {
  readonly client: KubeClient;
  put(name: string, value: number): void;
  remove(name: string): void;
  /** Forgets all changes so far: a watch from an older version is answered 410. */
  compact(): void;
  bookmark(): void;
  /** A bookmark that is this much older than the last change. */
  bookmarkOf(age: number): void;
  /** Takes a backup; the returned function restores it: later changes never happened, and their versions come again. */
  backup(): () => void;
  /** Each is used up by one request. */
  readonly listFaults: Fault[];
  readonly watchFaults: Fault[];
  readonly requests: KubeRequest[];
  /** What a client must come to know. */
  state(): ReadonlyMap<string, number>;
  /** Doubles every event and cuts the bytes into small pieces. */
  isHostile: boolean;
}

interface Logged {
  readonly version: number;
  readonly line: string;
}

const LINES: Readonly<Record<StreamFault, string>> = {
  end: '',
  silence: '',
  truncate: '{"type":"ADDED","object":{"metada',
  reset: '{"type":"ADDED","object":{"metada',
  badLine: '{"type":"MODIFIED","object":{]}\n',
  unknownType: '{"type":"FUTURE","object":{}}\n',
  errorWithoutCode: '{"type":"ERROR","object":{"kind":"Status"}}\n',
  goneInStream: '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n',
  noVersion: '{"type":"BOOKMARK","object":{"metadata":{}}}\n',
};

export function watchServer({ hasNumbers = false } = {}): WatchServer {
  const versionText = hasNumbers ? String : opaqueText;
  const objects = new Map<string, { readonly value: number; readonly version: number }>();
  const log: Logged[] = [];
  const watches = new Set<() => void>();
  const open = new Set<AbortController>();
  let version = 1;
  let compactedAt = 0;

  function rawObject(name: string, value: number, own: number): KubeObject {
    return { metadata: { namespace: 'ns', name, resourceVersion: versionText(own) }, value };
  }

  function change(type: string, name: string, value: number): void {
    version += 1;
    if (type === 'DELETED') objects.delete(name);
    else objects.set(name, { value, version });
    append(type, rawObject(name, value, version));
  }

  function append(type: string, object: unknown): void {
    log.push({ version, line: `${JSON.stringify({ type, object })}\n` });
    watches.forEach((wake) => wake());
  }

  async function* watch(from: number, fault: Fault | undefined, signal: AbortSignal): AsyncGenerator<Buffer> {
    let sent = 0;
    let next = 0;
    for (;;) {
      if (fault !== undefined && 'after' in fault && sent >= fault.after) {
        yield* misbehave(fault.kind, signal);
        return;
      }
      const entry = log[next];
      if (entry === undefined) await nextChange(signal);
      else {
        next += 1;
        // As kube-apiserver: a watch from a version that is still to come is silent until then.
        if (entry.version <= from) continue;
        yield* pieces(server.isHostile ? entry.line.repeat(2) : entry.line);
        sent += 1;
      }
    }
  }

  function nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        watches.delete(wake);
        resolve();
      };
      watches.add(wake);
      onAbort(signal, reject);
    });
  }

  function* list(query: NonNullable<KubeRequest['query']>, fault: Fault | undefined): Generator<Buffer> {
    const offset = Number(query['continue'] ?? 0);
    const limit = Number(query['limit'] ?? Infinity);
    const all = [...objects].map(([name, { value, version: own }]) => rawObject(name, value, own));
    const more = offset + limit < all.length;
    const items = all.slice(offset, offset + limit);
    const metadata = { resourceVersion: versionText(version), continue: more ? String(offset + limit) : '' };
    const text = JSON.stringify({ kind: 'ThingList', apiVersion: 'v1', metadata, items });
    yield* pieces(fault === undefined ? text : text.slice(0, text.length / 2));
  }

  function* pieces(text: string): Generator<Buffer> {
    const bytes = Buffer.from(text);
    const size = server.isHostile ? 7 : bytes.length;
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }

  function openStream(request: KubeRequest): Outcome<ByteStream> {
    server.requests.push(request);
    const query = request.query ?? {};
    const fault = (query['watch'] === true ? server.watchFaults : server.listFaults).shift();
    const refused = refusal(fault) ?? tooOld(query);
    if (refused !== undefined) return refused;
    const closing = new AbortController();
    open.add(closing);
    const signal = AbortSignal.any([closing.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    const bytes = query['watch'] === true ? watch(versionOf(query), fault, signal) : asynchronous(list(query, fault));
    return {
      kind: 'ok',
      object: { [Symbol.asyncIterator]: () => bytes, close: () => closing.abort() },
      warnings: [],
    };
  }

  function tooOld(query: NonNullable<KubeRequest['query']>): Failure | undefined {
    const isTooOld = query['watch'] === true && versionOf(query) < compactedAt;
    return isTooOld ? failureOf(410, { reason: 'Expired', message: 'too old resource version' }) : undefined;
  }

  const server: WatchServer = {
    client: {
      request: () => Promise.reject(new Error('not part of this fake')),
      stream: (request) => Promise.resolve(openStream(request)),
      close: () => undefined,
    },
    put: (name, value) => change(objects.has(name) ? 'MODIFIED' : 'ADDED', name, value),
    remove: (name) => {
      const old = objects.get(name);
      if (old !== undefined) change('DELETED', name, old.value);
    },
    compact: () => void (compactedAt = version),
    bookmark: () => append('BOOKMARK', { metadata: { resourceVersion: versionText(version) } }),
    bookmarkOf: (age) => append('BOOKMARK', { metadata: { resourceVersion: versionText(version - age) } }),
    backup: () => {
      const [kept, at] = [new Map(objects), version];
      return () => {
        objects.clear();
        for (const [name, object] of kept) objects.set(name, object);
        version = at;
        log.splice(log.findLastIndex((entry) => entry.version <= at) + 1);
        for (const each of open) each.abort();
        open.clear();
      };
    },
    listFaults: [],
    watchFaults: [],
    requests: [],
    state: () => new Map([...objects].map(([name, { value }]) => [`ns/${name}`, value])),
    isHostile: false,
  };
  return server;
}

/** Neither a number nor in text order: a client that compares versions as such fails. */
function opaqueText(version: number): string {
  return `v${String(version).split('').reverse().join('')}-${version}`;
}

function versionOf(query: NonNullable<KubeRequest['query']>): number {
  return Number(String(query['resourceVersion']).split('-').at(-1));
}

function refusal(fault: Fault | undefined): Failure | undefined {
  if (fault?.kind === 'unreachable') return { kind: 'unreachable', message: 'connection refused' };
  if (fault?.kind !== 'status') return undefined;
  return failureOf(fault.status, { message: 'scripted' }, fault.retryAfter);
}

async function* misbehave(kind: StreamFault, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (LINES[kind] !== '') yield Buffer.from(LINES[kind]);
  if (kind === 'reset') throw new Error('read ECONNRESET');
  if (kind === 'silence') await new Promise((_, reject) => onAbort(signal, reject));
}

function onAbort(signal: AbortSignal, reject: (reason: Error) => void): void {
  const abort = (): void => reject(new Error('aborted'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
}

async function* asynchronous<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}
