import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { parse } from 'yaml';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { AS_DEPLOYED } from '#test/cluster/installed/support/as-deployed.ts';
import { startAgentProcess } from '#test/cluster/support/agent-process.ts';
import { type OwnCluster, ownCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { type Prometheus, type ScrapeTarget, startPrometheus } from './prometheus.ts';
import { type ReportedNode, reportedNode } from './reported-node.ts';

const CONFIGURATION = fileURLToPath(new URL('../../../deploy/kube-scheduler/configuration.yaml', import.meta.url));
/** Its agent asks a kubelet that reports what the test tells it. */
export const NODE = 'node-0';
/** Its agent reads the kernel's files of this machine, as on a real node. */
export const KERNEL_NODE = 'node-1';

/** A control plane with every process of Plimsoll, and Prometheus, which scrapes them. */
export interface ScrapedProcesses {
  readonly own: () => OwnCluster;
  readonly prometheus: () => Prometheus;
  /** What the kubelet of NODE reports. */
  readonly reported: ReportedNode;
}

interface Ports {
  readonly extender: number;
  readonly webhook: number;
  readonly scheduler: number;
  readonly agent: number;
  readonly kernelAgent: number;
}

type Stop = () => Promise<void> | void;

/** Registers hooks of the present `describe` that start and end all of it. */
export function scrapedProcesses(): ScrapedProcesses {
  const reported = reportedNode(NODE);
  let ports: Ports | undefined;
  let prometheus: Prometheus | undefined;
  const stops: Stop[] = [];
  const own = ownCluster(async () => {
    ports = await choosePorts();
    return { schedulerConfiguration: shippedConfiguration(ports.extender) };
  });

  beforeAll(async () => {
    const chosen = there(ports, 'ports');
    await startProcesses(own(), chosen, reported, stops);
    const server = await startPrometheus(own().cluster.folder, targetsOf(chosen));
    stops.push(() => server.stop());
    prometheus = server;
  }, 240_000);
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  return { own, prometheus: () => there(prometheus, 'Prometheus'), reported };
}

function there<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not there yet`);
  return value;
}

async function choosePorts(): Promise<Ports> {
  const [extender = 0, webhook = 0, scheduler = 0, agent = 0, kernelAgent = 0] = await freePorts(5);
  return { extender, webhook, scheduler, agent, kernelAgent };
}

/** That of deploy/kube-scheduler, with the extender on another port, and time for it on a busy machine. */
function shippedConfiguration(port: number): object {
  const configuration = parse(readFileSync(CONFIGURATION, 'utf8')) as { readonly extenders: readonly object[] };
  const place = { urlPrefix: `http://127.0.0.1:${port}`, httpTimeout: '20s' };
  return { ...configuration, extenders: configuration.extenders.map((each) => ({ ...each, ...place })) };
}

/** Each is stopped by what it adds to `stops`, also where a later one does not start. */
async function startProcesses(own: OwnCluster, ports: Ports, reported: ReportedNode, stops: Stop[]): Promise<void> {
  const { admin: client, connection, cluster } = own;
  const { kubeconfig, folder } = cluster;
  await installPlimsoll(kubeconfig);
  const settings = { ...AS_DEPLOYED, healthPort: ports.webhook };
  const webhook = await startInstalledWebhook({ folder, client, connection, failurePolicy: 'Ignore', settings });
  stops.push(() => webhook.stop());
  const scheduler = await startSchedulerProcess(kubeconfig, ports.extender, [`--health-port=${ports.scheduler}`]);
  stops.push(() => scheduler.stop());
  await startAgents(kubeconfig, ports, reported, stops);
}

async function startAgents(kubeconfig: string, ports: Ports, reported: ReportedNode, stops: Stop[]): Promise<void> {
  const kubelet = await reported.serve();
  stops.push(() => kubelet.close());
  const place = { kubeconfig, nodeName: NODE, kubeletUrl: kubelet.url };
  const agent = await startAgentProcess(place, [`--health-port=${ports.agent}`]);
  stops.push(() => agent.stop());
  const groups = createPodGroups(1);
  stops.push(groups.remove);
  const fromKernel = ['--source=kernel', '--cross-check-enabled=true', `--path-kubepods=${groups.kubepods}`];
  const flags = [...fromKernel, '--path-nodefs=/', `--health-port=${ports.kernelAgent}`];
  const kernelAgent = await startAgentProcess({ ...place, nodeName: KERNEL_NODE }, flags);
  stops.push(() => kernelAgent.stop());
}

function targetsOf(ports: Ports): readonly ScrapeTarget[] {
  const cluster = 'test';
  return [
    { job: 'webhook', port: ports.webhook, labels: { cluster } },
    { job: 'scheduler', port: ports.scheduler, labels: { cluster } },
    { job: 'agent', port: ports.agent, labels: { cluster, node: NODE } },
    { job: 'kernel-agent', port: ports.kernelAgent, labels: { cluster, node: KERNEL_NODE } },
  ];
}
