import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { at } from '#test/contract/harness.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { CONTROLLER } from '#shared/kube/api-names.ts';
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

/** The overlay that says what the scheduler process does: one part of the controller, all of them, or the extender. */
export type ShippedPart =
  'node-controller' | 'control-plane-extender' | 'disruption-record' | 'queues' | 'rescheduling' | 'everything';

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

/**
 * With the variables, the arguments and the account that the overlay gives it, and more flags after them; the port is that
 * of its extender. The account has the rights of all parts, because the set with all of them is installed.
 */
export async function startShipped(
  own: Pick<OwnCluster, 'admin' | 'connection' | 'cluster'>,
  part: ShippedPart,
  flags: readonly string[] = [],
  { port, clockOffsetMs }: { readonly port?: number; readonly clockOffsetMs?: number } = {},
): Promise<SchedulerProcess> {
  const { account, args, env } = shipped(part);
  const kubeconfig = await accountKubeconfig(own, account);
  const [free = 0] = port === undefined ? await freePorts(1) : [port];
  return startSchedulerProcess(kubeconfig, free, [...args, ...flags], { clockOffsetMs, env });
}

const DASHBOARD_PORT = 'PLIMSOLL_DASHBOARD__PORT';
const built: Parameters<typeof buildFolder>[1] = new Map();

function shipped(part: ShippedPart) {
  const name = part === 'control-plane-extender' ? 'plimsoll-control-plane-extender' : CONTROLLER;
  const objects = buildFolder(`deploy/overlays/${part}`, built);
  const found = objects.find(({ kind, metadata }) => isWorkload(kind) && metadata.name === name);
  const pod = at(found, 'spec.template.spec');
  const args = at(pod, 'containers.0.args') as readonly string[];
  const env = (at(pod, 'containers.0.env') ?? []) as readonly { readonly name: string; readonly value: string }[];
  return {
    // Any port for the dashboard, where it is on.
    env: Object.fromEntries(env.map(({ name: key, value }) => [key, key === DASHBOARD_PORT ? '0' : value])),
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
