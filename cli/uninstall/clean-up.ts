import { SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import { otherGates } from '#shared/kube/annotations/annotations.ts';
import { NAMESPACE_NODE, NAMESPACE_SYSTEM, PRESSURE_CONDITIONS, PRESSURE_TAINTS } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { deleteObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { DAEMON_SETS, DEPLOYMENTS, LEASES, NODES, PODS } from '#shared/kube/resource.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { nameOf, namespaceOf, type Manifest } from '#cli/manifests/parse-manifests.ts';
import { gatesOnly, takeGateOff } from '#cli/queue/run-release.ts';
import { InputError } from '#cli/process-io.ts';
import { stillInstalled } from './messages.ts';

/** What the processes of Plimsoll wrote, and no manifest names: it stays when the manifests are deleted. */
export interface Leftover {
  /** As kubectl names it: `pod/web in namespace shop: scheduling gate plimsoll.dev/queue`. */
  readonly what: string;
  readonly remove: () => Promise<Outcome<unknown>>;
}

const TAINTS: readonly unknown[] = Object.values(PRESSURE_TAINTS);
const CONDITIONS: readonly unknown[] = Object.values(PRESSURE_CONDITIONS);
const OWN_LEASE = /^plimsoll-/;
/** A kubelet writes its node every few seconds. */
const ATTEMPTS = 5;
const labelSelector = 'app.kubernetes.io/part-of=plimsoll';

/** Rejects with an InputError while something runs that would write them again. */
export async function findLeftovers(client: KubeClient): Promise<readonly Leftover[]> {
  const workloads = await Promise.all(
    [DEPLOYMENTS, DAEMON_SETS].map((resource) => listAll(client, resource, { labelSelector })),
  );
  const [running] = workloads.flat();
  if (running !== undefined) throw new InputError(stillInstalled(`${namespaceOf(running, '')}/${nameOf(running)}`));
  const namespaces = [NAMESPACE_SYSTEM, NAMESPACE_NODE];
  const [pods, nodes, ...leases] = await Promise.all([
    listAll(client, PODS, { slim: gatesOnly }),
    listAll(client, NODES),
    ...namespaces.map((namespace) => listAll(client, LEASES, { namespace })),
  ]);
  return [
    ...pods.filter(({ raw }) => otherGates(raw) !== undefined).map((pod) => gateOf(client, pod)),
    ...nodes.flatMap((node) => marksOf(client, node)),
    ...leases.flat().flatMap((lease) => leaseOf(client, lease)),
  ];
}

function gateOf(client: KubeClient, pod: Manifest): Leftover {
  const what = `pod/${nameOf(pod)} in namespace ${namespaceOf(pod, '')}: scheduling gate plimsoll.dev/queue`;
  return { what, remove: () => takeGateOff(client, pod, false) };
}

function leaseOf(client: KubeClient, lease: Manifest): readonly Leftover[] {
  const [name, namespace] = [nameOf(lease), namespaceOf(lease, '')];
  if (!OWN_LEASE.test(name)) return [];
  const remove = (): Promise<Outcome<unknown>> => deleteObject(client, { resource: LEASES, namespace, name });
  return [{ what: `lease/${name} in namespace ${namespace}`, remove }];
}

/** Taints, conditions and spare room of ours on a node. */
function marksOf(client: KubeClient, node: Manifest): readonly Leftover[] {
  const name = nameOf(node);
  const taints = itemsOf(fieldOf(node.raw['spec'], 'taints')).filter(isOwnTaint);
  const conditions = itemsOf(fieldOf(node.raw['status'], 'conditions')).filter(isOwnCondition);
  return [
    ...(taints.length === 0
      ? []
      : [{ what: `node/${name}: ${textOf('taint', taints, 'key')}`, remove: () => untaint(client, name) }]),
    ...(conditions.length === 0
      ? []
      : [
          {
            what: `node/${name}: ${textOf('condition', conditions, 'type')}`,
            remove: () => removeConditions(client, name, conditions),
          },
        ]),
    ...(offersSpareRoom(node)
      ? [{ what: `node/${name}: spare room`, remove: () => withdrawSpareRoom(client, name) }]
      : []),
  ];
}

function isOwnTaint(taint: unknown): boolean {
  return TAINTS.includes(fieldOf(taint, 'key'));
}

function isOwnCondition(condition: unknown): boolean {
  return CONDITIONS.includes(fieldOf(condition, 'type'));
}

function textOf(word: string, items: readonly unknown[], field: string): string {
  return `${word}${items.length === 1 ? '' : 's'} ${items.map((item) => String(fieldOf(item, field))).join(', ')}`;
}

/** Whether it does, which no manifest says; what is removed ends no pod. */
export function offersSpareRoom({ raw }: Manifest): boolean {
  const amounts = SPARE_FIELDS.map((field) => fieldOf(raw['status'], field));
  return amounts.some((each) => Object.values(SPARE_RESOURCES).some((name) => fieldOf(each, name) !== undefined));
}

const SPARE_FIELDS = ['capacity', 'allocatable'];

function withdrawSpareRoom(client: KubeClient, name: string): Promise<Outcome<unknown>> {
  const none = Object.fromEntries(Object.values(SPARE_RESOURCES).map((resource) => [resource, null]));
  const patch = { status: Object.fromEntries(SPARE_FIELDS.map((field) => [field, none])) };
  return patchObject(client, { resource: NODES, name, subresource: 'status' }, patch, { type: 'merge' });
}

/** Taints are one list for the API server, so it is written whole, and only as it was read. */
async function untaint(client: KubeClient, name: string): Promise<Outcome<unknown>> {
  const address = { resource: NODES, name };
  for (let attempt = 1; ; attempt += 1) {
    const found = await getObject(client, address);
    if (found.kind !== 'ok') return found;
    const taints = itemsOf(fieldOf(found.object['spec'], 'taints')).filter((taint) => !isOwnTaint(taint));
    const { resourceVersion } = found.object.metadata;
    const patch = { metadata: { resourceVersion }, spec: { taints } };
    const written = await patchObject(client, address, patch, { type: 'merge' });
    if (written.kind !== 'conflict' || attempt >= ATTEMPTS) return written;
  }
}

function removeConditions(client: KubeClient, name: string, conditions: readonly unknown[]): Promise<Outcome<unknown>> {
  const deleted = conditions.map((condition) => ({ $patch: 'delete', type: fieldOf(condition, 'type') }));
  const address = { resource: NODES, name, subresource: 'status' };
  return patchObject(client, address, { status: { conditions: deleted } }, { type: 'strategic' });
}
