import { memoize } from '#shared/domain/base/memoize.ts';
import { controllerOf, type OwnerKey, ownerId, ownerKeyOf, type Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podsIn, podsOfController } from '#shared/domain/snapshot/snapshot-pods.ts';

/** The pods of one controller that run on the nodes of a pass. */
export interface OwnerGroup {
  readonly id: string;
  readonly key: OwnerKey;
  readonly pods: readonly PlacedPod[];
}

/** Pods are read only on demand: a pass examines the owners of few of them. */
export interface OwnerGroups {
  /** The owner of a pod of the cluster, the same object for all of its pods. */
  readonly of: (pod: Pod) => OwnerGroup | undefined;
  /** The pods of an owner by its `ownerId`. */
  readonly podsOf: (id: string) => readonly PlacedPod[];
  /** The pods of all owners in a namespace, also those on no node of the pass. */
  readonly podsIn: (namespace: string) => readonly PlacedPod[];
}

/** Reads owners from a snapshot; pods on nodes other than the named ones are left out. */
export function createOwnerGroups(snapshot: ClusterSnapshot, nodes: ReadonlyMap<string, unknown>): OwnerGroups {
  const isOnNode = ({ pod }: PlacedPod): boolean => nodes.has(pod.spec.nodeName ?? '');
  const podsOf = memoize((id: string) => {
    const { namespace, uid } = placeInOwnerId(id);
    const isOwn = memoize((owners: Pod['owners']) => idOf(ownerKeyOf({ namespace, owners })) === id);
    const pods = podsOfController(snapshot, namespace, uid);
    return [...pods].filter((placed) => isOnNode(placed) && isOwn(placed.pod.owners));
  });
  return {
    of: createGroupIndex(podsOf),
    podsOf,
    podsIn: memoize((namespace) =>
      [...podsIn(snapshot, namespace)].filter(({ pod }) => controllerOf(pod) !== undefined),
    ),
  };
}

function idOf(key: OwnerKey | undefined): string | undefined {
  return key && ownerId(key);
}

/** Pods of one template share their list of owners; looking it up is much faster than building a text. */
function createGroupIndex(podsOf: OwnerGroups['podsOf']): OwnerGroups['of'] {
  const byId = new Map<string, OwnerGroup>();
  const byList = new Map<Pod['owners'], OwnerGroup | undefined>();
  function find(pod: Pod): OwnerGroup | undefined {
    const key = ownerKeyOf(pod);
    if (key === undefined) return undefined;
    const id = ownerId(key);
    const group = byId.get(id) ?? createGroup(id, key, podsOf);
    byId.set(id, group);
    return group;
  }
  return (pod) => {
    const known = byList.get(pod.owners);
    if (known !== undefined && known.key.namespace === pod.namespace) return known;
    const group = find(pod);
    byList.set(pod.owners, group);
    return group;
  };
}

function createGroup(id: string, key: OwnerKey, podsOf: OwnerGroups['podsOf']): OwnerGroup {
  return {
    id,
    key,
    get pods() {
      return podsOf(id);
    },
  };
}

/** The namespace and the UID in an `ownerId`; the UID is empty if the owner has none. */
function placeInOwnerId(id: string): { readonly namespace: string; readonly uid: string } {
  return { namespace: id.slice(0, id.indexOf('/')), uid: id.slice(id.lastIndexOf(' ') + 1) };
}
