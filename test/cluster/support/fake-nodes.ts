import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { inFlight } from './in-flight.ts';

const CAPACITY = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };
const AT_ONCE = 32;

/** Makes Node objects that no kubelet stands behind, `prefix`-0 and on. Pods on them stay pending for ever. */
export async function makeFakeNodes(
  client: KubeClient,
  prefix: string,
  count: number,
  labels: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  await inFlight(AT_ONCE, names, (name) => makeFakeNode(client, name, labels));
  return names;
}

/** Some of the nodes; all if it is empty. */
type Selection = Readonly<{ labelSelector?: string }>;

/** How many nodes are Ready, and free of the taint that the node controller takes from them a moment later. */
export async function countReadyNodes(client: KubeClient, query: Selection = {}): Promise<number> {
  const outcome = await client.request({ path: '/api/v1/nodes', query });
  if (outcome.kind !== 'ok') throw new Error(`cannot list nodes: ${outcome.message}`);
  const nodes = fieldOf(outcome.object, 'items') as readonly FakeNode[];
  return nodes.filter(({ spec, status }) => spec.taints === undefined && isReady(status)).length;
}

interface FakeNode {
  readonly spec: { readonly taints?: readonly unknown[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function isReady({ conditions = [] }: FakeNode['status']): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** As a kubelet registers itself: the status comes with the object. */
export async function makeFakeNode(client: KubeClient, name: string, more: object = {}): Promise<void> {
  const labels = { ...more, 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
  const now = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Fake', lastHeartbeatTime: now, lastTransitionTime: now };
  const outcome = await client.request({
    method: 'POST',
    path: '/api/v1/nodes',
    body: {
      metadata: { name, labels },
      status: { capacity: CAPACITY, allocatable: CAPACITY, conditions: [ready] },
    },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot make node "${name}": ${outcome.message}`);
}
