import { fileURLToPath } from 'node:url';
import { QUEUE_GATE } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { accountKubeconfig, QUEUE_ACCOUNT } from '#test/cluster/support/accounts.ts';
import type { Cluster } from '#test/cluster/support/control-plane/cluster.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { pod } from '#test/contract/harness.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy', import.meta.url));
const FILES = ['controller/rbac', 'queues/rbac', 'queues/gate-policy', 'queues/guard-policies', 'queues/leader-policy'];
const AT_ONCE = 32;

/** Pods of a namespace, or one of them. */
export function podsOf(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name === undefined ? '' : `/${name}`}`;
}

/** Creates an object. Rejects if the API server refuses it. */
export async function send(client: KubeClient, path: string, body: object): Promise<void> {
  const outcome = await client.request({ method: 'POST', path, body });
  if (outcome.kind !== 'ok') throw new Error(`cannot create at ${path}: ${outcome.message}`);
}

/** Installs the component without its Deployment, and returns a kubeconfig with the rights of its leader. */
export async function installQueues(client: KubeClient, cluster: Cluster): Promise<string> {
  await send(client, '/api/v1/namespaces', { metadata: { name: 'plimsoll-system' } });
  const files = FILES.flatMap((file) => ['-f', `${DEPLOY}/components/${file}.yaml`]);
  for (const what of [['-k', `${DEPLOY}/crds`], files]) {
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', ...what]);
    if (applied.status !== 0) throw new Error(applied.stderr);
  }
  await manage(client, 'probe');
  const isGated = async (): Promise<boolean> => {
    const body = gatedPod('probe');
    const outcome = await client.request({ method: 'POST', path: podsOf('probe'), query: { dryRun: 'All' }, body });
    return outcome.kind === 'ok' && !gateIsOff(outcome.object);
  };
  await waitUntil(isGated, { what: 'the gate policy to take effect', components: [] });
  const connection = await kubeconfigConnection(cluster.kubeconfig);
  return accountKubeconfig({ admin: client, cluster, connection }, QUEUE_ACCOUNT);
}

/** A namespace whose pods wait in queues; its label `team` has its name. */
export async function manage(client: KubeClient, name: string): Promise<void> {
  await send(client, '/api/v1/namespaces', {
    metadata: { name, labels: { 'plimsoll.dev/queues': 'managed', team: name } },
  });
}

/** Creates this many pods; the policy of the cluster adds the gate, and no scheduler places them. */
export async function createGatedPods(
  client: KubeClient,
  namespace: string,
  count: number,
): Promise<readonly string[]> {
  return inFlight(AT_ONCE, Array(count).keys(), async (index) => {
    await send(client, podsOf(namespace), gatedPod(`pod-${index}`));
    return `pod-${index}`;
  });
}

function gatedPod(name: string): object {
  const resources = { requests: { cpu: '1m' } };
  return pod(name, { containers: [{ name: 'main', image: 'registry.test/idle:1', resources }], schedulerName: 'none' });
}

/** Whether the gate of the queues does not hold the pod back. */
export function gateIsOff(object: unknown): boolean {
  const gates = itemsOf(fieldOf(fieldOf(object, 'spec'), 'schedulingGates'));
  return !gates.some((gate) => fieldOf(gate, 'name') === QUEUE_GATE);
}
