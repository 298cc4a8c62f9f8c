import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { AGENT, WEBHOOK } from '#test/cluster/support/accounts.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import type { PodPort } from '#cli/dashboard/forward-port.ts';
import { call } from './kube-calls.ts';
import { NODE_NAME } from './node-place.ts';
import type { RunningNode } from './node-under-test.ts';

/** As much of the status of a NodePressure as tests look at. */
export interface PressureStatus {
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly next: readonly { readonly pod: string; readonly usage?: string }[];
  readonly evictions: readonly {
    readonly pod: string;
    readonly uid: string;
    readonly signal: string;
    readonly stage: string;
    readonly outcome: string;
  }[];
  readonly throttled?: readonly { readonly pod: string; readonly before: number; readonly to: number }[];
}

const WEBHOOKS = `/apis/apps/v1/namespaces/${WEBHOOK.namespace}/deployments/${WEBHOOK.name}`;
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/plimsoll';
const RULES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/priority.plimsoll.dev';
/** As deploy/base has them. */
const AGENT_CPU_MILLICORES = 200;
const AGENT_PROBE_SECONDS = 10;
const AGENT_START_PROBE_SECONDS = 2;
const HEALTH_PORT = 8_080;
const DAEMON_SET = `/apis/apps/v1/namespaces/${AGENT.namespace}/daemonsets/${AGENT.name}`;

/** Applies deploy/base, or an overlay, with the flags that the agent needs on this node. */
export async function installAgent(
  { kubeconfig, agentFlags }: Pick<RunningNode, 'kubeconfig' | 'agentFlags'>,
  client: KubeClient,
  folder?: string,
): Promise<void> {
  await installPlimsoll(kubeconfig, folder);
  const path = '/spec/template/spec/containers/0/args/-';
  const body = agentFlags.map((value) => ({ op: 'add', path, value }));
  await call(client, { method: 'PATCH', path: DAEMON_SET, contentType: 'application/json-patch+json', body });
}

/**
 * For a node so many times slower than bare metal: the agent may take so much more CPU and time to start, and the
 * webhook does not run. Its registration goes too, as evictions by the agent wait for the webhook's answer, and so do the
 * rules that it would compile.
 */
export async function allowForSlowness(client: KubeClient, factor: number): Promise<void> {
  const contentType = 'application/json-patch+json';
  const container = '/spec/template/spec/containers/0';
  const cpu = `${AGENT_CPU_MILLICORES * factor}m`;
  const body = [
    { op: 'replace', path: `${container}/resources/requests/cpu`, value: cpu },
    { op: 'replace', path: `${container}/resources/limits/cpu`, value: cpu },
    { op: 'replace', path: `${container}/startupProbe/periodSeconds`, value: AGENT_START_PROBE_SECONDS * factor },
    { op: 'replace', path: `${container}/livenessProbe/periodSeconds`, value: AGENT_PROBE_SECONDS * factor },
  ];
  await call(client, { method: 'PATCH', path: DAEMON_SET, contentType, body });
  const scale = [{ op: 'replace', path: '/spec/replicas', value: 0 }];
  await call(client, { method: 'PATCH', path: WEBHOOKS, contentType, body: scale });
  for (const path of [REGISTRATION, RULES]) await call(client, { method: 'DELETE', path });
}

/** How many pods of the DaemonSet are ready, of its newest template. */
export async function readyAgents(client: KubeClient): Promise<number> {
  const { status } = (await call(client, { path: DAEMON_SET })) as {
    readonly status: { readonly numberReady: number; readonly updatedNumberScheduled?: number };
  };
  return status.updatedNumberScheduled === undefined ? 0 : status.numberReady;
}

/** For how long the agent has been running; it evicts no pod at first. */
export async function agentAgeMs(client: KubeClient): Promise<number> {
  return Date.now() - Date.parse(textAt(await agentContainer(client), 'state.running.startedAt'));
}

/** How often it had to be started again, for instance because its memory was not enough. */
export async function agentRestarts(client: KubeClient): Promise<unknown> {
  return at(await agentContainer(client), 'restartCount');
}

/** Nodes without a kubelet have one too, which never starts. */
export async function agentPod(client: KubeClient): Promise<unknown> {
  const query = { fieldSelector: `spec.nodeName=${NODE_NAME}` };
  return at(await call(client, { path: `/api/v1/namespaces/${AGENT.namespace}/pods`, query }), 'items.0');
}

async function agentContainer(client: KubeClient): Promise<unknown> {
  return at(await agentPod(client), 'status.containerStatuses.0');
}

/** Where its probes are answered. */
export async function healthPort(client: KubeClient): Promise<PodPort> {
  return { namespace: AGENT.namespace, pod: textAt(await agentPod(client), 'metadata.name'), port: HEALTH_PORT };
}

/** What the agent publishes about the node. */
export async function pressureStatus(client: KubeClient): Promise<PressureStatus> {
  const path = `/apis/plimsoll.dev/v1alpha1/nodepressures/${NODE_NAME}`;
  return ((await call(client, { path })) as { readonly status: PressureStatus }).status;
}

/** Bytes that each candidate uses, by `NAMESPACE/NAME`. */
export function usageByPod({ next }: PressureStatus): ReadonlyMap<string, number> {
  return new Map(next.map(({ pod, usage }) => [pod, bytes(usage)]));
}

function bytes(text: string | undefined): number {
  const parsed = parseQuantity(text ?? '');
  return parsed.ok ? quantityNumber(parsed.quantity) : NaN;
}

/** The lines of its log, one of JSON each. */
export async function agentLog({ kubeconfig }: RunningNode): Promise<readonly unknown[]> {
  const args = ['logs', '--namespace', AGENT.namespace, `daemonset/${AGENT.name}`];
  const { status, stdout, stderr } = await kubectl(kubeconfig, args);
  if (status !== 0) throw new Error(`cannot read the agent's log: ${stderr}`);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as unknown);
}
