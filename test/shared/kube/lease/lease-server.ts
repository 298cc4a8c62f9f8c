import type { KubeClient } from '#shared/kube/client/client.ts';
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
  client(identity: string): KubeClient;
}

interface LeaseBody {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec: Record<string, unknown>;
}

export function leaseServer(): LeaseServer {
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
    return { kind: 'ok', object: structuredClone(lease), warnings: [] };
  }

  const server: LeaseServer = {
    leases: new Map(),
    cut: new Set(),
    deaf: new Set(),
    client: (identity) =>
      scriptedClient((request) => {
        if (server.cut.has(identity)) return { kind: 'unreachable', message: 'cut' };
        const outcome = answer(request);
        return server.deaf.has(identity) ? { kind: 'timeout', message: 'deaf' } : outcome;
      }).client,
  };
  return server;
}
