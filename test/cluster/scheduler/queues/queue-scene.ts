import { expect } from 'vitest';
import { at, pod } from '#test/contract/harness.ts';
import { decodeQueue } from '#shared/api/queue.ts';
import { encodeQueueSelectors } from '#shared/api/queue-selectors.ts';
import { valueOf } from '#test/build/value-of.ts';
import { eventually } from '#test/build/waiting.ts';
import { asUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
export const QUEUES = '/apis/plimsoll.dev/v1alpha1/queues';
export const LEADER = 'system:serviceaccount:plimsoll-system:plimsoll-controller';
export const PATIENCE_MS = 60_000;

/** Pods of `namespace`, or one of them. */
export function pods(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name === undefined ? '' : `/${name}`}`;
}

/** A pod with one container that requests so much CPU. */
export function podOf(name: string, spec: object = {}, metadata: object = {}, cpu = '1'): object {
  const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu } } }];
  return pod(name, { containers, schedulerName: 'default-scheduler', ...spec }, metadata);
}

/** The names of the scheduling gates of a pod. */
export function gatesOf(object: unknown): readonly unknown[] {
  return ((at(object, 'spec.schedulingGates') as readonly object[] | undefined) ?? []).map((gate) => at(gate, 'name'));
}

function queueOf(name: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name }, spec };
}

type Labels = Readonly<Record<string, string>>;
/** The label for all parts, by which every policy of queues holds that holds by theirs. */
export const MANAGED: Labels = { 'plimsoll.dev/managed': 'true' };
const BY_OWN_LABEL: Labels = { 'plimsoll.dev/queues': 'managed' };

/** A cluster with all that is shipped, whose parts are off; the leader of queues is started by the suite. */
export function queueScene(own: () => OwnCluster) {
  const user = (name?: string): AsUser => asUser(own().connection, name);

  async function create(path: string, body: object): Promise<void> {
    const { status, body: answer } = await user()('POST', path, body);
    expect([status, at(answer, 'message')]).toEqual([201, undefined]);
  }

  async function install(): Promise<void> {
    await installShippedSet(own());
    await create('/api/v1/namespaces', { metadata: { name: 'probe', labels: { 'plimsoll.dev/queues': 'managed' } } });
    // A policy takes effect shortly after it is written: the ones that give the gate, keep it and judge queues.
    await eventually(async () => {
      const gated = await user()('POST', `${pods('probe')}?dryRun=All`, podOf('probe'));
      expect([gated.status, gatesOf(gated.body)]).toEqual([201, ['plimsoll.dev/queue']]);
      const forged = podOf('probe', {}, { annotations: { 'plimsoll.dev/admitted': '{}' } });
      expect((await user()('POST', `${pods('probe')}?dryRun=All`, forged)).status).toBe(403);
      expect((await user()('POST', `${QUEUES}?dryRun=All`, queueOf('probe', {}))).status).toBe(201);
    }, PATIENCE_MS);
  }

  /** A namespace whose pods wait in queues, by the label of queues or by another one. */
  async function manage(name: string, labels: Labels = {}, by: Labels = BY_OWN_LABEL): Promise<void> {
    await create('/api/v1/namespaces', { metadata: { name, labels: { ...by, ...labels } } });
  }

  async function queue(name: string, spec: object): Promise<void> {
    await create(QUEUES, queueOf(name, spec));
  }

  /** What the leader, which does not run yet, would write about the queues that there are. */
  async function tellSelectors(): Promise<void> {
    const { body } = await user()('GET', QUEUES);
    const queues = (at(body, 'items') as readonly unknown[]).map((each) => valueOf(decodeQueue(each)));
    const { status } = await user(LEADER)('POST', QUEUES.replace('queues', 'queueselectors'), {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'QueueSelectors',
      metadata: { name: 'plimsoll' },
      spec: encodeQueueSelectors(queues),
    });
    expect(status).toBe(201);
  }

  async function takeRights(part: string): Promise<void> {
    const answer = await user()('DELETE', `${RBAC}/clusterrolebindings/plimsoll-controller-${part}`);
    expect(answer.status).toBe(200);
  }

  /** What the API server answers when the account of the leader evicts a pod, as a dry run. */
  async function evicts(namespace: string, name: string, part?: 'queues') {
    const uid = at((await user()('GET', pods(namespace, name))).body, 'metadata.uid');
    const metadata = { namespace, name, ...(part && { annotations: { 'plimsoll.dev/eviction-part': part } }) };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { preconditions: { uid } } };
    return user(LEADER)('POST', `${pods(namespace, name)}/eviction?dryRun=All`, eviction);
  }

  /** A user with the role `edit` in the namespace and no other right. */
  async function tenant(namespace: string): Promise<AsUser> {
    const name = `tenant-of-${namespace}`;
    await create(`${RBAC}/namespaces/${namespace}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const editor = user(name);
    await eventually(async () => expect((await editor('GET', pods(namespace))).status).toBe(200), PATIENCE_MS);
    return editor;
  }

  const startLeader = (...flags: readonly string[]): Promise<SchedulerProcess> => startShipped(own(), 'queues', flags);

  return { user, evicts, takeRights, create, install, manage, queue, tellSelectors, tenant, startLeader };
}
