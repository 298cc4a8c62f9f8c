import type { KubeClient } from '#shared/kube/client/client.ts';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { installAgent, readyAgents } from '#test/cluster/node/agent-on-node.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { findNodePrograms } from '#test/cluster/node/start/node-programs.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import { cgroupRootOf } from '#test/cluster/node/start/start-kubelet.ts';
import { WORKLOAD_IMAGE } from '#test/cluster/node/image/workload-image.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import type { IntroductionFacts } from './introduction.ts';

export interface InstallOptions {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly connection: ClusterConnection;
  readonly client: KubeClient;
}

/** What runs, for the introduction, and the processes of it that are ours to watch. */
export type Running = Pick<IntroductionFacts, 'webhook' | 'node' | 'hasNode' | 'image'> & {
  readonly components: Iterable<readonly [string, Component]>;
};

const DEPLOYMENT = `/apis/apps/v1/namespaces/${WEBHOOK.namespace}/deployments/${WEBHOOK.name}`;

/** Installs deploy/base where no pod can run, and runs its webhook as a process next to the API server. */
export async function runBeside({ folder, kubeconfig, connection, client }: InstallOptions): Promise<Running> {
  await installPlimsoll(kubeconfig);
  const settings = { logFormat: 'text' };
  const webhook = await startInstalledWebhook({ folder, client, connection, failurePolicy: 'Ignore', settings });
  const programs = findNodePrograms(process.env);
  const because = programs.kind === 'missing' ? ` (${programs.because})` : '';
  return {
    webhook: `pid ${webhook.component.pid() ?? ''}`,
    node: `no node${because}: pods are judged, stored, and stay Pending`,
    hasNode: false,
    image: 'any',
    components: [['webhook', webhook.component]],
  };
}

/** Installs deploy/base, and waits until the node runs its agent and its webhooks. */
export async function runOnNode({ folder, kubeconfig, client }: InstallOptions): Promise<Running> {
  await installAgent(
    { kubeconfig, agentFlags: [`--path-kubepods=${cgroupRootOf(folder)}/kubepods`, '--period-status-ms=5000'] },
    client,
  );
  await waitUntil(async () => (await readyAgents(client)) === 1, { what: 'the agent', components: [] });
  await waitUntil(() => hasTold(client), { what: 'what the agent tells of the node', components: [] });
  await waitUntil(() => isAvailable(client), { what: 'the webhook', components: [] });
  return {
    webhook: `pods in ${WEBHOOK.namespace}`,
    node: `${NODE_NAME}, this machine, with the agent on it in dry run`,
    hasNode: true,
    image: WORKLOAD_IMAGE,
    components: [],
  };
}

/** It writes that a moment after it is ready. */
async function hasTold(client: KubeClient): Promise<boolean> {
  const found = await getObject(client, { resource: NODE_PRESSURES, name: NODE_NAME });
  return found.kind === 'ok' && found.object['status'] !== undefined;
}

async function isAvailable(client: KubeClient): Promise<boolean> {
  const { spec, status } = (await call(client, { path: DEPLOYMENT })) as {
    readonly spec: { readonly replicas: number };
    readonly status: { readonly availableReplicas?: number };
  };
  return status.availableReplicas === spec.replicas;
}
