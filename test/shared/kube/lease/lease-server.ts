import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { failureOf, type Outcome } from '#shared/kube/client/outcome.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

export interface StoredLease {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
  readonly spec: Record<string, unknown>;
}

/** The Leases of one namespace, and what else the script of a test answers. */
export interface LeaseServer {
  readonly leases: Map<string, StoredLease>;
  /** Clients cut off from the server; `deaf` ones reach it but hear no answer. */
  readonly cut: Set<string>;
  readonly deaf: Set<string>;
  /** Clients that may not watch. */
  readonly unwatched: Set<string>;
  /** `IDENTITY METHOD`, `IDENTITY list` or `IDENTITY watch` of every request so far. */
  readonly asked: string[];
  remove(name: string): void;
  /** Open watches. */
  watching(): number;
  client(identity: string): KubeClient;
}

interface LeaseBody {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec: Record<string, unknown>;
}

export function leaseServer(): LeaseServer {
  const watches = new Set<(event: object) => void>();
  let version = 0;
  let made = 0;

  function create({ metadata, spec }: LeaseBody): Outcome<unknown> {
    const name = metadata?.name ?? '';
    if (server.leases.has(name)) return failureOf(409, { reason: 'AlreadyExists' });
    made += 1;
    return store(name, `uid-${made}`, spec);
  }

  function answer(request: KubeRequest): Outcome<unknown> {
    const body = request.body as LeaseBody | undefined;
    if (request.method === 'POST' && body !== undefined) return create(body);
    const name = request.path.split('/').at(-1) ?? '';
    const lease = server.leases.get(name);
    if (lease === undefined) return failureOf(404, {});
    if (request.method !== 'PATCH') return { kind: 'ok', object: structuredClone(lease), warnings: [] };
    if (body?.metadata?.resourceVersion !== lease.metadata.resourceVersion)
      return failureOf(409, { reason: 'Conflict' });
    return store(name, lease.metadata.uid, { ...lease.spec, ...body.spec });
  }

  function store(name: string, uid: string, spec: Record<string, unknown>): Outcome<unknown> {
    version += 1;
    const lease = { metadata: { uid, resourceVersion: `v${version}` }, spec };
    server.leases.set(name, lease);
    tell('MODIFIED', name, lease);
    return { kind: 'ok', object: structuredClone(lease), warnings: [] };
  }

  function tell(type: string, name: string, lease: StoredLease): void {
    for (const heard of watches) heard({ type, object: named(name, lease) });
  }

  /** What a client hears while it is cut off reaches it when it hears something again. */
  function watchOf(identity: string, signal: AbortSignal | undefined): ByteStream {
    const lines: Buffer[] = [];
    let woken = Promise.withResolvers<undefined>();
    let isOpen = true;
    const wake = (): void => woken.resolve(undefined);
    const hear = (event: object): void => {
      lines.push(Buffer.from(`${JSON.stringify(event)}\n`));
      if (!server.cut.has(identity)) wake();
    };
    const close = (): void => {
      isOpen = false;
      watches.delete(hear);
      wake();
    };
    watches.add(hear);
    signal?.addEventListener('abort', close, { once: true });
    return {
      close,
      async *[Symbol.asyncIterator]() {
        while (isOpen) {
          yield* lines.splice(0);
          await woken.promise;
          woken = Promise.withResolvers();
        }
      },
    };
  }

  function listed(): Outcome<unknown> {
    const items = Array.from(server.leases, ([name, lease]) => named(name, lease));
    return { kind: 'ok', object: { metadata: { resourceVersion: `v${version}` }, items }, warnings: [] };
  }

  const server: LeaseServer = {
    leases: new Map(),
    unwatched: new Set(),
    asked: [],
    watching: () => watches.size,
    remove: (name) => {
      const lease = server.leases.get(name);
      server.leases.delete(name);
      version += 1;
      if (lease !== undefined)
        tell('DELETED', name, { ...lease, metadata: { ...lease.metadata, resourceVersion: `v${version}` } });
    },
    cut: new Set(),
    deaf: new Set(),
    client: (identity) => {
      const { client } = scriptedClient((request) => {
        const isOfAll = request.path.endsWith('/leases') && request.method === undefined;
        server.asked.push(`${identity} ${isOfAll ? 'list' : (request.method ?? 'GET')}`);
        if (server.cut.has(identity)) return { kind: 'unreachable', message: 'cut' };
        if (isOfAll) return server.unwatched.has(identity) ? failureOf(403, {}) : listed();
        const outcome = answer(request);
        return server.deaf.has(identity) ? { kind: 'timeout', message: 'deaf' } : outcome;
      });
      return {
        ...client,
        stream: async (request) => {
          if (request.query?.['watch'] !== true) return client.stream(request);
          server.asked.push(`${identity} watch`);
          if (server.cut.has(identity)) return { kind: 'unreachable', message: 'cut' };
          return { kind: 'ok', object: watchOf(identity, request.signal), warnings: [] };
        },
      };
    },
  };
  return server;
}

function named(name: string, { metadata, spec }: StoredLease): object {
  return structuredClone({ metadata: { ...metadata, name, namespace: 'plimsoll-system' }, spec });
}
