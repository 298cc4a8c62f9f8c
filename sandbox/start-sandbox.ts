import { type CertificatePair, createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { type KubeClient, createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import { startApiServer } from './api-server/start-api-server.ts';
import { runControllers } from './controllers/run-controllers.ts';
import { createIdentities, type Speaker } from './identities.ts';
import { installPlimsoll } from './install-plimsoll.ts';
import type { ProcessSourceName } from './node/processes/process-source.ts';
import { type SandboxNode, startNode } from './node/run-node.ts';
import { runScheduler } from './scheduler/run-scheduler.ts';
import { createWorkspace } from './workspace.ts';
import type { PodLogs } from './api-server/operations/server-state.ts';
import { badRequest } from './api-server/errors/errors.ts';
import { streamLog } from './node/containers/log-buffer.ts';

export interface SandboxPorts {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Everything that is started registers its cleanup here at once, so that a failure half way leaves nothing running.
   */
  readonly shutdown: Shutdown;
  /** How the node measures its processes; by default the best source of this system. */
  readonly measureWith?: ProcessSourceName | undefined;
}

/** The small Kubernetes, without Plimsoll. */
export interface Sandbox {
  readonly url: string;
  readonly kubeconfigFile: string;
  readonly node: SandboxNode;
  readonly nodeName: string;
  /** Client with the permissions of an administrator. */
  readonly client: KubeClient;
  readonly clientFor: (speaker: Speaker) => KubeClient;
  /** What a component needs to reach the API server. */
  readonly environmentFor: (speaker: Speaker) => Readonly<Record<string, string>>;
  /** Makes the scheduler call this extender for each preemption. */
  readonly useExtender: (url: string) => void;
}

export const NODE_NAME = 'sandbox';
export const NODE_CPU = '4';
export const NODE_MEMORY = '1Gi';
const HOST = '127.0.0.1';
const CERTIFICATE_DAYS = 30;

/** Starts API server, node, controllers and scheduler; resolves when the node is ready. */
export async function startSandbox(ports: SandboxPorts): Promise<Sandbox> {
  const authority = createAuthority({
    commonName: 'plimsoll-sandbox',
    days: CERTIFICATE_DAYS,
    now: ports.clock.now(),
  });
  const late: { node?: SandboxNode; extenderUrl?: string } = {};
  const cluster = await openCluster(ports, authority, () => late.node);
  await installPlimsoll(cluster.client);
  const node = await startWorkers(ports, cluster, authority, () => late.extenderUrl);
  late.node = node;
  await node.ready;
  return { ...cluster, node, nodeName: NODE_NAME, useExtender: (url) => void (late.extenderUrl = url) };
}

type Cluster = Omit<Sandbox, 'node' | 'nodeName' | 'useExtender'> & { readonly nodeToken: string };

/** The API server, and how clients reach it. `node` provides the output of pods once there is one. */
async function openCluster(
  { clock, log, shutdown }: SandboxPorts,
  authority: CertificatePair,
  node: () => SandboxNode | undefined,
): Promise<Cluster> {
  const { tokens, users } = createIdentities(NODE_NAME);
  const podLogs = podLogsFrom(node, () => clock.now());
  const server = await startApiServer({ host: HOST, port: 0, clock, log, authority, users, podLogs });
  shutdown.onRelease('API server', server.close);
  const workspace = await createWorkspace({ kubeconfig: server.kubeconfig(), caPem: server.caPem, tokens });
  shutdown.onRelease('temporary files', () => workspace.remove());
  const connect = (token: string, userAgent: string): KubeClient => {
    const client = createClient(directConnection({ server: server.url, token, ca: server.caPem }), { userAgent });
    shutdown.onRelease(`connections of ${userAgent}`, () => client.close());
    return client;
  };
  return {
    url: server.url,
    kubeconfigFile: workspace.kubeconfigFile,
    client: connect(server.token, 'sandbox'),
    clientFor: (speaker) => connect(tokens[speaker], `sandbox-${speaker}`),
    environmentFor: (speaker) => ({
      PLIMSOLL_SERVER: server.url,
      PLIMSOLL_TOKEN_FILE: workspace.tokenFile(speaker),
      PLIMSOLL_CA_FILE: workspace.caFile,
    }),
    // The agent authenticates to the node with its token for the API server.
    nodeToken: tokens.agent,
  };
}

/** The active parts of a cluster: the node, the controllers and the scheduler, each as an ordinary client. */
async function startWorkers(
  { clock, log, shutdown, measureWith }: SandboxPorts,
  { clientFor, nodeToken }: Cluster,
  authority: CertificatePair,
  extenderUrl: () => string | undefined,
): Promise<SandboxNode> {
  const leaf = { dnsNames: ['localhost'], ipAddresses: [HOST], days: CERTIFICATE_DAYS, now: clock.now() };
  const node = await startNode({
    client: clientFor('node'),
    clock,
    log,
    name: NODE_NAME,
    cpu: NODE_CPU,
    memory: NODE_MEMORY,
    tls: issueServerCertificate(authority, leaf),
    token: nodeToken,
    measureWith,
  });
  shutdown.onRelease('node', () => node.stop());
  const running = Promise.all([
    runControllers({ client: clientFor('controllers'), clock, log }, shutdown.signal),
    runScheduler({ client: clientFor('kube-scheduler'), clock, log, extenderUrl }, shutdown.signal),
  ]);
  shutdown.onRelease('controllers and scheduler', () => running.then(() => undefined));
  return node;
}

/** Passes requests for a pod's log to the node, once there is one. */
function podLogsFrom(node: () => SandboxNode | undefined, now: () => number): PodLogs {
  return (request) => {
    const { name, uid = '' } = request.pod.metadata;
    const buffer = node()?.log(uid, request.container, request.previous);
    if (buffer !== undefined) return streamLog(buffer, request, now());
    const which = request.previous ? 'previous terminated container' : 'container';
    throw badRequest(`${which} "${request.container}" in pod "${name}" is waiting to start`);
  };
}
