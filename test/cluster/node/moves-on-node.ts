import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { accountKubeconfig } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { WORKLOAD_IMAGE } from './image/workload-image.ts';
import { call } from './kube-calls.ts';
import { NODE_NAME } from './node-place.ts';

const RIGHTS = ['controller', 'rescheduling'].map((component) =>
  fileURLToPath(new URL(`../../../deploy/components/${component}/rbac.yaml`, import.meta.url)),
);
const ACCOUNT = { namespace: 'plimsoll-system', name: 'plimsoll-controller' };
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--rescheduling-passes=On'];
const OURS = '/apis/plimsoll.dev/v1alpha1';
const POLICIES = `${OURS}/reschedulingpolicies`;
const PRESSURES = `${OURS}/nodepressures`;
const PODS = '/api/v1/namespaces/default/pods';
const STAYS = 'plimsoll.dev/evict';
/** No agent runs there, so the test reports that nothing is used. */
const SPARE = { prefix: 'spare', name: 'spare-0', memory: '32Gi' };
/** Two replicas that the agent and the rescheduler leave where they are, until they are released. */
export interface Replicas {
  readonly app: string;
  readonly args: readonly string[];
  readonly resources: object;
}
/** They keep to their requests. */
export const KEPT: Replicas = {
  app: 'kept',
  args: ['grow', '128', '100'],
  resources: { requests: { cpu: '10m', memory: '192Mi' } },
};
/** Each wants all processors once it has run long enough to be moved, so that each waits for the other. */
export const STALLED: Replicas = {
  app: 'stalled',
  args: ['spin', '420'],
  resources: { requests: { cpu: '10m', memory: '16Mi' } },
};
/** More than a node has. */
const CPUS = '1000';

/** The rescheduler as it is shipped, with the rights of its account, next to a real node. Ends with the run of the node. */
export async function startRescheduler(kubeconfig: string, admin: KubeClient): Promise<SchedulerProcess> {
  const applied = await kubectl(kubeconfig, ['apply', '--server-side', ...RIGHTS.flatMap((file) => ['-f', file])]);
  expect([applied.status, applied.stderr]).toEqual([0, '']);
  const cluster = { folder: dirname(kubeconfig) };
  const own = await accountKubeconfig({ admin, cluster, connection: await kubeconfigConnection(kubeconfig) }, ACCOUNT);
  const [port = 0] = await freePorts(1);
  return startSchedulerProcess(own, port, FLAGS);
}

/** A policy that is carried out, with a pass every thirty seconds. */
export async function createPolicy(client: KubeClient, name: string, policies: object): Promise<void> {
  const spec = { mode: 'Enforce', aggressiveness: 'High', schedule: { period: '30s' }, ...policies };
  const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'ReschedulingPolicy', metadata: { name }, spec };
  await call(client, { method: 'POST', path: POLICIES, body });
}

export async function policyStatus(client: KubeClient, name: string): Promise<unknown> {
  return at(await call(client, { path: `${POLICIES}/${name}` }), 'status');
}

export async function deletePolicy(client: KubeClient, name: string): Promise<void> {
  await call(client, { method: 'DELETE', path: `${POLICIES}/${name}` });
}

/** Three pods of a Job that are bound to the node, whose kubelet has less than they request. */
export async function makeRefusedPods(client: KubeClient): Promise<void> {
  const resources = { requests: { cpu: CPUS } };
  const containers = [{ name: 'main', image: WORKLOAD_IMAGE, resources }];
  const template = { spec: { nodeName: NODE_NAME, restartPolicy: 'Never', containers } };
  const spec = { completions: 3, parallelism: 3, backoffLimit: 2, template };
  const body = { metadata: { name: 'refused' }, spec };
  await call(client, { method: 'POST', path: '/apis/batch/v1/namespaces/default/jobs', body });
}

/** The owners that a node is to be spared, with the milliseconds for which it is. */
export async function avoidedOn(client: KubeClient, node: string): Promise<readonly (readonly [string, number])[]> {
  const avoid = (at(await call(client, { path: `${PRESSURES}/${node}` }), 'spec.avoid') ?? []) as readonly unknown[];
  return avoid.map((each) => [
    `${textAt(each, 'owner.kind')}/${textAt(each, 'owner.name')}`,
    Date.parse(textAt(each, 'until')) - Date.now(),
  ]);
}

export async function makeReplicas(client: KubeClient, { app, args, resources }: Replicas): Promise<void> {
  const spec = {
    terminationGracePeriodSeconds: 1,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'main', image: WORKLOAD_IMAGE, args, resources }],
  };
  const labels = { app };
  const template = { metadata: { labels, annotations: { [STAYS]: 'never' } }, spec };
  const body = { metadata: { name: app }, spec: { replicas: 2, selector: { matchLabels: labels }, template } };
  await call(client, { method: 'POST', path: '/apis/apps/v1/namespaces/default/replicasets', body });
}

/** Those that do not terminate. */
async function stayingReplicas(client: KubeClient, { app }: Replicas): Promise<readonly unknown[]> {
  const list = await call(client, { path: PODS, query: { labelSelector: `app=${app}` } });
  return (at(list, 'items') as readonly unknown[]).filter((pod) => at(pod, 'metadata.deletionTimestamp') === undefined);
}

/** Whoever may take them now does. */
export async function releaseReplicas(client: KubeClient, replicas: Replicas): Promise<void> {
  for (const pod of await stayingReplicas(client, replicas)) {
    const body = { metadata: { annotations: { [STAYS]: null } } };
    const path = `${PODS}/${textAt(pod, 'metadata.name')}`;
    await call(client, { method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  }
}

/** The nodes of the replicas, in order. */
export async function nodesOfReplicas(client: KubeClient, replicas: Replicas): Promise<readonly unknown[]> {
  return (await stayingReplicas(client, replicas)).map((pod) => at(pod, 'spec.nodeName')).sort();
}

/** A node without a kubelet and an agent. */
export async function makeSpareNode(client: KubeClient): Promise<void> {
  await makeFakeNodes(client, SPARE.prefix, 1);
  const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: SPARE.name } };
  await call(client, { method: 'POST', path: PRESSURES, body });
}

/** To be repeated: a report is fresh for three minutes. */
export async function reportSpareNode(client: KubeClient): Promise<void> {
  const now = new Date().toISOString();
  const memory = { available: SPARE.memory, capacity: SPARE.memory, state: 'Far', since: now };
  const signals = [{ name: 'memory.available', ...memory }];
  const status = { observedAt: now, mode: 'DryRun', conditions: [], signals, next: [], evictions: [] };
  const path = `${PRESSURES}/${SPARE.name}/status`;
  await call(client, { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { status } });
}

/** Percent of the node's memory in use, as its agent reports it. */
export async function reportedUse(client: KubeClient): Promise<number> {
  const pressure = await call(client, { path: `${PRESSURES}/${NODE_NAME}` });
  const signals = at(pressure, 'status.signals') as readonly { name: string; available: string; capacity: string }[];
  const memory = signals.find(({ name }) => name === 'memory.available');
  const [available, capacity] = [bytes(memory?.available), bytes(memory?.capacity)];
  return (1 - available / capacity) * 100;
}

function bytes(text = ''): number {
  const parsed = parseQuantity(text);
  return parsed.ok ? quantityNumber(parsed.quantity) : NaN;
}
