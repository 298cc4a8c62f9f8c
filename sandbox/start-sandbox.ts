import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { type KubeClient, createClient } from '#shared/kube/client.ts';
import { directConnection } from '#shared/kube/connection.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import { startApiServer } from './api-server/start-api-server.ts';
import { runControllers } from './controllers/run-controllers.ts';
import { createIdentities, type Speaker } from './identities.ts';
import { loadCrds } from './load-crds.ts';
import { type SandboxNode, startNode } from './node/run-node.ts';
import { podLogsFrom } from './pod-logs.ts';
import { runScheduler } from './scheduler/run-scheduler.ts';
import { createWorkspace } from './workspace.ts';

export interface SandboxPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Everything that is started registers its end here at once, so that a failure half way leaves nothing. */
  readonly shutdown: Shutdown;
}

/** The small Kubernetes, without Plimsoll. */
export interface Sandbox {
  readonly url: string;
  readonly kubeconfigFile: string;
  readonly node: SandboxNode;
  readonly nodeName: string;
  /** With the rights of an administrator. */
  readonly client: KubeClient;
  clientFor(speaker: Speaker): KubeClient;
  /** What a component needs to reach the API server. */
  environmentFor(speaker: Speaker): Readonly<Record<string, string>>;
}

export const NODE_NAME = 'sandbox';
export const NODE_CPU = '4';
export const NODE_MEMORY = '1Gi';
const HOST = '127.0.0.1';
const CERTIFICATE_DAYS = 30;

/** Starts API server, controllers, scheduler and node; resolves when the node is ready. */
export async function startSandbox(ports: SandboxPorts): Promise<Sandbox> {
  const { clock, log, shutdown } = ports;
  const now = clock.now();
  const authority = createAuthority({ commonName: 'plimsoll-sandbox', days: CERTIFICATE_DAYS, now });
  const identities = createIdentities(NODE_NAME);
  let node: SandboxNode | undefined;
  const podLogs = podLogsFrom(
    () => node,
    () => clock.now(),
  );
  const server = await startApiServer({ host: HOST, port: 0, clock, log, authority, users: identities.users, podLogs });
  shutdown.onRelease('API server', server.close);
  const workspace = await createWorkspace({
    kubeconfig: server.kubeconfig(),
    caPem: server.caPem,
    tokens: identities.tokens,
  });
  shutdown.onRelease('temporary files', () => workspace.remove());

  const connect = (token: string, userAgent: string): KubeClient => {
    const client = createClient(directConnection({ server: server.url, token, ca: server.caPem }), { userAgent });
    shutdown.onRelease(`connections of ${userAgent}`, () => client.close());
    return client;
  };
  const clientFor = (speaker: Speaker): KubeClient => connect(identities.tokens[speaker], `sandbox-${speaker}`);
  const client = connect(server.token, 'sandbox');
  await loadCrds(client);

  const leaf = { dnsNames: ['localhost'], ipAddresses: [HOST], days: CERTIFICATE_DAYS, now };
  const tls = issueServerCertificate(authority, leaf);
  const started = await startNode({
    client: clientFor('node'),
    clock,
    log,
    name: NODE_NAME,
    cpu: NODE_CPU,
    memory: NODE_MEMORY,
    tls,
    token: identities.tokens.agent,
  });
  node = started;
  shutdown.onRelease('node', () => started.stop());
  const running = [
    runControllers({ client: clientFor('controllers'), clock, log }, shutdown.signal),
    runScheduler({ client: clientFor('scheduler'), clock, log }, shutdown.signal),
  ];
  shutdown.onRelease('controllers and scheduler', () => Promise.all(running).then(() => undefined));
  await started.ready;
  return {
    url: server.url,
    kubeconfigFile: workspace.kubeconfigFile,
    node: started,
    nodeName: NODE_NAME,
    client,
    clientFor,
    environmentFor: (speaker) => ({
      PLIMSOLL_SERVER: server.url,
      PLIMSOLL_TOKEN_FILE: workspace.tokenFile(speaker),
      PLIMSOLL_CA_FILE: workspace.caFile,
    }),
  };
}
