import { repeat } from '#shared/runtime/repeat.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { microTime } from '#shared/kube/kube-object.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk, type Outcome } from '#shared/kube/client/outcome.ts';
import { LEASES, NODES } from '#shared/kube/resource.ts';
import { nodeConditions, type NodeFacts, nodeObject, nodeStatus, withTimes } from './node-object.ts';

export interface NodeObjectOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly facts: NodeFacts;
  readonly availableBytes: () => number;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
const HEARTBEAT_MS = 10_000;
/** Looked at so often; written only when a condition changes or a heartbeat is due. */
const LOOK_MS = 1_000;
const DEADLINE_MS = 10_000;

/** Registers the node, then keeps its status and its lease alive. */
export function keepNodeObject(options: NodeObjectOptions) {
  const { client, clock, log, facts } = options;
  const registered = Promise.withResolvers<undefined>();
  const since = new Map<string, { readonly status: string; readonly since: number }>();
  let heartbeatDueAt = -Infinity;

  async function look(): Promise<void> {
    const conditions = nodeConditions(options.availableBytes());
    const isNews = conditions.some(({ type, status }) => since.get(type)?.status !== status);
    if (!isNews && clock.monotonic() < heartbeatDueAt) return;
    if (heartbeatDueAt === -Infinity) await register();
    const now = clock.now();
    const status = { ...nodeStatus(facts), conditions: withTimes(conditions, since, now) };
    const address = { resource: NODES, name: facts.name };
    expectOk(
      await patchObject(client, { ...address, subresource: 'status' }, { status }, { type: 'strategic' }),
      'write the node status',
    );
    for (const { type, status: value } of conditions) {
      if (since.get(type)?.status !== value) since.set(type, { status: value, since: now });
    }
    await renewLease(now);
    heartbeatDueAt = clock.monotonic() + HEARTBEAT_MS;
    registered.resolve(undefined);
  }

  async function register(): Promise<void> {
    const created = await createObject(client, { resource: NODES }, nodeObject(facts));
    if (created.kind !== 'alreadyExists') expectOk(created, 'write the node');
  }

  async function renewLease(now: number): Promise<void> {
    const spec = { holderIdentity: facts.name, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(now) };
    const address = { resource: LEASES, namespace: LEASE_NAMESPACE, name: facts.name };
    const renewed = await patchObject(client, address, { spec }, { type: 'merge' });
    expectOk(renewed.kind === 'notFound' ? await createLease(spec) : renewed, 'write the lease');
  }

  function createLease(spec: object): Promise<Outcome<unknown>> {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: facts.name }, spec };
    return createObject(client, { resource: LEASES, namespace: LEASE_NAMESPACE }, lease);
  }

  const run = (signal: AbortSignal): Promise<void> =>
    repeat(
      {
        task: look,
        periodMs: LOOK_MS,
        deadlineMs: DEADLINE_MS,
        onError: (error) => log.warn({ err: error }, 'Node not reported'),
        clock,
      },
      signal,
    );
  return { registered: registered.promise, run };
}
