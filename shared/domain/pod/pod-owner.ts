import type { NodeSelectorTerm, Owner, Pod } from './pod.ts';

/** The controller that would recreate the pod; `undefined` if there is none. */
export function controllerOf({ owners }: Pick<Pod, 'owners'>): Owner | undefined {
  return owners.find(({ isController }) => isController);
}

/** The key of that controller; it has no `uid` if the owner reference has an empty one. */
export function ownerKeyOf(pod: Pick<Pod, 'namespace' | 'owners'>): OwnerKey | undefined {
  const { kind, name, uid } = controllerOf(pod) ?? {};
  if (kind === undefined || name === undefined) return undefined;
  return { namespace: pod.namespace, kind, name, uid: uid === '' ? undefined : uid };
}

/** The same as `namespace/Kind/name`. */
export function ownerOf(pod: Pod): string | undefined {
  const owner = ownerKeyOf(pod);
  return owner && ownerText(owner);
}

/** UIDs of the DaemonSets that exist, by `namespace/name`. */
export type DaemonSets = ReadonlyMap<string, string>;

/** Whether an existing DaemonSet created the pod for one node. */
export function isDaemonSetPod(pod: Pod, daemonSets: DaemonSets): boolean {
  const owner = claimedDaemonSet(pod);
  return owner !== undefined && daemonSets.get(`${pod.namespace}/${owner.name}`) === owner.uid;
}

/**
 * The DaemonSet that a pod names as its controller; `undefined` unless the pod is tied to one node as the DaemonSet
 * controller ties its pods. Anyone who may create pods can write both, so callers must check that the DaemonSet exists:
 * then its controller deletes a pod that it does not want on that node. Under another API group no controller would,
 * and the garbage collector ignores such a pod too.
 */
export function claimedDaemonSet(pod: Pod): Owner | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'DaemonSet' || owner.apiVersion !== 'apps/v1') return undefined;
  return isTiedToNode(pod) ? owner : undefined;
}

/** By name in each term of the required affinity. `pkg/controller/daemon/util/daemonset_util.go` ReplaceDaemonSetPodNodeNameNodeAffinity. */
function isTiedToNode({ spec }: Pod): boolean {
  const names = new Set(spec.scheduling.nodeAffinity?.terms.map(nodeNamedIn));
  const [name] = names;
  return names.size === 1 && name !== undefined && name === (spec.nodeName ?? name);
}

function nodeNamedIn({ matchFields }: NodeSelectorTerm): string | undefined {
  const [field, ...others] = matchFields;
  const isName = field?.key === 'metadata.name' && field.operator === 'In' && field.values.length === 1;
  return isName && others.length === 0 ? field.values[0] : undefined;
}

/** The controller of a pod. Without `uid`, every owner of that name is meant. */
export interface OwnerKey {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** Whether two keys name the same owner; UIDs are compared if both are known. */
export function isSameOwner(left: OwnerKey, right: OwnerKey): boolean {
  const isSameName = left.namespace === right.namespace && left.kind === right.kind && left.name === right.name;
  return isSameName && (left.uid === undefined || right.uid === undefined || left.uid === right.uid);
}

/** Identifies an owner; two owners of the same name differ if both UIDs are known. */
export function ownerId(owner: OwnerKey): string {
  return `${ownerText(owner)} ${owner.uid ?? ''}`;
}

/** The namespace and the UID in an `ownerId`; the UID is empty if the owner has none. */
export function placeInOwnerId(id: string): { readonly namespace: string; readonly uid: string } {
  return { namespace: id.slice(0, id.indexOf('/')), uid: id.slice(id.lastIndexOf(' ') + 1) };
}

/** An owner as messages and `status.evictions` name it: `namespace/Kind/name`. */
export function ownerText({ namespace, kind, name }: OwnerKey): string {
  return `${namespace}/${kind}/${name}`;
}
