import { once } from 'node:events';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { libraryOf } from '#shared/kube/client/client-library.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { conditionStatusIn } from '#shared/kube/decode/raw-conditions.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { PODS, resourcePath, SERVICE_ACCOUNTS } from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { type OpenCluster, withCluster } from '#cli/cluster/open-cluster.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { forwardPort } from './forward-port.ts';
import {
  cannotCreateToken,
  cannotListPods,
  connectionFailed,
  forwarding,
  NO_TOKEN,
  noReadyPod,
  notAnAccount,
} from './messages.ts';

export interface DashboardCommandOptions extends ClusterOptions {
  readonly namespace: string;
  /** On this machine. */
  readonly port: number;
  readonly serviceAccount?: string;
}

/** Of deploy/components/controller; the component of the dashboard adds its port. */
const LABELS = 'app.kubernetes.io/name=plimsoll,app.kubernetes.io/component=controller';
const PORT_NAME = 'dashboard';

/** Carries out `plimsoll dashboard`. Rejects with an InputError if no dashboard or no token is found. */
export async function runDashboard(options: DashboardCommandOptions, io: ProcessIo): Promise<void> {
  const { namespace } = options;
  await withCluster(options, async (cluster) => {
    const { client } = cluster;
    await readyPod(client, namespace);
    const token = await tokenFor(options, cluster);
    const server = await forwardPort(options.port, {
      config: await libraryOf(cluster.connection),
      target: async () => ({ namespace, ...(await readyPod(client, namespace)) }),
      onFailure: (cause) => io.tell(connectionFailed(cause)),
    });
    io.tell(forwarding(server.port, namespace));
    io.print(`http://127.0.0.1:${server.port}/#token=${encodeURIComponent(token)}\n`);
    await once(server.listener, 'close');
  });
}

/** A pod that is ready, and its port of the page. Rejects with an InputError if there is none. */
async function readyPod(
  client: KubeClient,
  namespace: string,
): Promise<{ readonly pod: string; readonly port: number }> {
  const found = await listObjects(client, { resource: PODS, namespace }, { labelSelector: LABELS });
  if (found.kind !== 'ok') throw new InputError(cannotListPods(namespace, found.message));
  const pod = found.object.items.find(isReady);
  const port = pod && portOf(pod);
  if (pod === undefined || port === undefined) throw new InputError(noReadyPod(namespace));
  return { pod: pod.metadata.name ?? '', port };
}

function isReady(pod: KubeObject): boolean {
  return conditionStatusIn(pod['status'], 'Ready') === 'True';
}

function portOf(pod: KubeObject): number | undefined {
  const ports = itemsOf(fieldOf(pod['spec'], 'containers')).flatMap((each) => itemsOf(fieldOf(each, 'ports')));
  const port = fieldOf(
    ports.find((each) => fieldOf(each, 'name') === PORT_NAME),
    'containerPort',
  );
  return typeof port === 'number' ? port : undefined;
}

const HOUR_SECONDS = 3_600;

async function tokenFor({ serviceAccount }: DashboardCommandOptions, { client, token }: OpenCluster): Promise<string> {
  if (serviceAccount !== undefined) return createToken(client, serviceAccount);
  const own = (await token?.()) ?? '';
  if (own === '') throw new InputError(NO_TOKEN);
  return own;
}

async function createToken(client: KubeClient, account: string): Promise<string> {
  const [namespace = '', name = '', ...others] = account.split('/');
  if (namespace === '' || name === '' || others.length > 0) throw new InputError(notAnAccount(account));
  const spec = { expirationSeconds: HOUR_SECONDS };
  const answer = await client.request({
    method: 'POST',
    path: resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: 'token' }),
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  if (answer.kind !== 'ok') throw new InputError(cannotCreateToken(account, answer.message));
  return String(fieldOf(fieldOf(answer.object, 'status'), 'token'));
}
