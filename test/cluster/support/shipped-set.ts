import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { at } from '#test/contract/harness.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { accountKubeconfig } from './accounts.ts';
import { kubectl } from './control-plane/kubectl.ts';
import type { OwnCluster } from './control-plane/own-cluster.ts';
import { freePorts } from './free-ports.ts';
import { unregister } from './unregister.ts';

const FOLDER = 'deploy/overlays/everything';
/** What the others need. */
const FIRST: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);
/** kubectl writes one object after the other. */
const AT_ONCE = 4;
const NO_NODE = { 'example.test/plimsoll': 'off' };

/** A Deployment or DaemonSet of the scheduler process. */
export type SchedulerWorkload =
  | 'plimsoll-node-controller'
  | 'plimsoll-control-plane-extender'
  | 'plimsoll-disruptions'
  | 'plimsoll-queues'
  | 'plimsoll-rescheduling';

/**
 * Installs Plimsoll with every part on, as a user would, and starts none of its pods: nothing runs them on a control plane
 * alone, and on nodes without a kubelet they take the room of those of a suite. Its processes are started one by one with
 * `startShipped`. The webhook is not registered until one of its processes does it. Rejects with kubectl's words.
 */
export async function installShippedSet({ cluster }: Pick<OwnCluster, 'cluster'>): Promise<void> {
  const objects = buildFolder(FOLDER).map(withoutPods);
  const [first = [], others = []] = [true, false].map((isFirst) =>
    objects.filter(({ kind }) => FIRST.has(kind) === isFirst),
  );
  await apply(cluster.kubeconfig, first);
  const shares = Array.from({ length: AT_ONCE }, (_, share) => others.filter((__, index) => index % AT_ONCE === share));
  await Promise.all(shares.map((share) => apply(cluster.kubeconfig, share)));
  await unregister(cluster.kubeconfig);
}

async function apply(kubeconfig: string, items: readonly Manifest[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const applied = await kubectl(kubeconfig, ['apply', '--server-side', '--validate=strict', '-f', '-'], list);
  if (applied.status !== 0) throw new Error(`cannot install Plimsoll: ${applied.stderr}`);
}

/** With the arguments and the account that the workload has, and more flags after them; the port is that of its extender. */
export async function startShipped(
  own: Pick<OwnCluster, 'admin' | 'connection' | 'cluster'>,
  workload: SchedulerWorkload,
  flags: readonly string[] = [],
  { port, clockOffsetMs }: { readonly port?: number; readonly clockOffsetMs?: number } = {},
): Promise<SchedulerProcess> {
  const { account, args } = shipped(workload);
  const kubeconfig = await accountKubeconfig(own, account);
  const [free = 0] = port === undefined ? await freePorts(1) : [port];
  return startSchedulerProcess(kubeconfig, free, [...args, ...flags], clockOffsetMs);
}

function shipped(workload: SchedulerWorkload) {
  const found = buildFolder(FOLDER).find(({ kind, metadata }) => isWorkload(kind) && metadata.name === workload);
  const pod = at(found, 'spec.template.spec');
  const args = at(pod, 'containers.0.args') as readonly string[];
  return {
    account: { namespace: String(found?.metadata.namespace), name: String(at(pod, 'serviceAccountName')) },
    // Where it listens is told by the suite: several run on one machine.
    args: args.filter((arg) => !/^--(?:health-)?(?:host|port)=/.test(arg)),
  };
}

function withoutPods(object: Manifest): Manifest {
  const spec = object['spec'] as { readonly template: { readonly spec: object } };
  if (object.kind === 'Deployment') return { ...object, spec: { ...spec, replicas: 0 } };
  if (object.kind !== 'DaemonSet') return object;
  const template = { ...spec.template, spec: { ...spec.template.spec, nodeSelector: NO_NODE } };
  return { ...object, spec: { ...spec, template } };
}

function isWorkload(kind: string): boolean {
  return kind === 'Deployment' || kind === 'DaemonSet';
}
