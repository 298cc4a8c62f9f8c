import { createClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { hostPort } from '#shared/runtime/host-port.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { startAgentProcess } from '#test/cluster/support/agent-process.ts';
import { startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { startFakeKubelet, memorySummary } from '#test/cluster/support/fake-kubelet.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import { at, pod } from '#test/contract/harness.ts';

/*
 * Starts a control plane and every process of Plimsoll, each on all addresses as by default, and asks something of each
 * that crosses the network. Prints what it found as one line of JSON. Run in a network namespace whose only address is
 * PLIMSOLL_TEST_LOOPBACK.
 */

const API = '/apis/plimsoll.dev/v1alpha1';
const ON_ALL_ADDRESSES = ['--host=::', '--health-host=::'];
/** As the Deployment of the controller has it. */
const ON_THIS_MACHINE = ['--host=127.0.0.1', '--health-host=::'];
const NODE = 'node-0';
const MEMORY = { availableMebibytes: 900, capacityMebibytes: 1_907 };
const CONTAINERS = [{ name: 'main', image: 'registry.test/idle:1' }];

const [port = 0] = await freePorts(1);
const extenders = [
  // Not ignorable: a pod is placed only after the extender has answered.
  { urlPrefix: `http://${hostPort(LOOPBACK, port)}`, filterVerb: 'filter', nodeCacheCapable: true, httpTimeout: '5s' },
];
const startup = await startCluster({ schedulerConfiguration: { extenders } });
if (startup.kind === 'missing') throw new Error(startup.because);
const { cluster } = startup;
const connection = await kubeconfigConnection(cluster.kubeconfig);
const admin = createClient(connection, { userAgent: 'plimsoll-test' });
const own = { cluster, connection, admin };
const started: { stop: () => Promise<void> }[] = [];
const keep = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
  const running = await starting;
  started.push(running);
  return running;
};

async function create(path: string, body: object): Promise<void> {
  const outcome = await admin.request({ method: 'POST', path, body });
  if (outcome.kind !== 'ok') throw new Error(`cannot create ${path}: ${outcome.message}`);
}

/** Refused by the webhook, which alone knows what a quota has left. */
async function refusal(): Promise<string> {
  const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
  await create('/api/v1/namespaces', { metadata: { name: 'limited', labels } });
  await create('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'none-left' }, value: 30 });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'limited' } };
  await create(`${API}/priorityquotas`, {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'PriorityQuota',
    metadata: { name: 'none-left' },
    spec: { namespaceSelector, priorityClassNames: ['none-left'], hard: { pods: '0' } },
  });
  const refused = pod('refused', { containers: CONTAINERS, priorityClassName: 'none-left' });
  const request = { method: 'POST', path: '/api/v1/namespaces/limited/pods', query: { dryRun: 'All' } } as const;
  return untilAnswer(
    async () => String(at(await admin.request({ ...request, body: refused }), 'message')),
    // While the webhook reads the cluster, it refuses for that.
    (message) => message.includes('exceeded quota'),
  );
}

async function fieldOf(path: string, field: string): Promise<unknown> {
  return at(await admin.request({ path }), `object.${field}`);
}

try {
  await installShippedSet(own);
  await makeFakeNodes(admin, 'node', 1);
  const webhook = { folder: cluster.folder, client: admin, connection, failurePolicy: 'Fail' } as const;
  const kubelet = await startFakeKubelet(() => memorySummary(NODE, MEMORY, []));
  // As $(NODE_IP) puts it: without brackets.
  const kubeletUrl = kubelet.url.replace(/[[\]]/g, '');
  await Promise.all([
    keep(startInstalledWebhook({ ...webhook, settings: { host: '::', healthHost: '::' } })),
    keep(startShipped(own, 'control-plane-extender', ON_ALL_ADDRESSES, { port })),
    keep(startShipped(own, 'everything', ON_THIS_MACHINE)),
    keep(startAgentProcess({ kubeconfig: cluster.kubeconfig, nodeName: NODE, kubeletUrl }, ['--health-host=::'])),
  ]);
  await create(
    '/api/v1/namespaces/default/pods',
    pod('placed', { containers: CONTAINERS, schedulerName: 'default-scheduler' }),
  );
  const found = {
    apiServer: connection.server.replace(/:\d+$/, ''),
    refusal: await refusal(),
    placedOn: await untilAnswer(
      () => fieldOf('/api/v1/namespaces/default/pods/placed', 'spec.nodeName'),
      (node) => node !== undefined,
    ),
    memory: await untilAnswer(
      () => fieldOf(`${API}/nodepressures/${NODE}`, 'status.signals.0.state'),
      (state) => state !== undefined,
    ),
  };
  await kubelet.close();
  process.stdout.write(`${JSON.stringify(found)}\n`);
} finally {
  await Promise.all(started.map((each) => each.stop()));
  admin.close();
  await cluster.close();
}
