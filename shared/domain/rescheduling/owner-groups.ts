import { memoize } from '#shared/domain/model/memoize.ts';
import { type OwnerKey, ownerId, ownerKeyOf, placeInOwnerId } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podsIn, podsOfController } from '#shared/domain/snapshot/snapshot-pods.ts';

/** The pods of one controller that run on the nodes of a pass. */
export interface OwnerGroup {
  readonly id: string;
  readonly key: OwnerKey;
  readonly pods: readonly PlacedPod[];
}

/** Owners are read once they are asked for: a pass looks at the owners of few of the pods. */
export interface OwnerGroups {
  /** By `ownerId`. */
  readonly byId: (id: string) => OwnerGroup | undefined;
  /** The owner of a pod of the cluster. */
  readonly of: (pod: Pod) => OwnerGroup | undefined;
  /** The pods of all owners in a namespace. */
  readonly podsIn: (namespace: string) => readonly PlacedPod[];
}

/** Reads owners off a snapshot; pods on other nodes than the named ones are left out. */
export function createOwnerGroups(snapshot: ClusterSnapshot, nodes: ReadonlyMap<string, unknown>): OwnerGroups {
  const isOnNode = ({ pod }: PlacedPod): boolean => nodes.has(pod.spec.nodeName ?? '');
  const byId = memoize((id: string): OwnerGroup | undefined => {
    const { namespace, uid } = placeInOwnerId(id);
    const pods = [...podsOfController(snapshot, namespace, uid)].filter(
      (placed) => isOnNode(placed) && idOf(placed.pod) === id,
    );
    const key = pods[0] && ownerKeyOf(pods[0].pod);
    return key === undefined ? undefined : { id, key, pods };
  });
  const idOf = idOfOwner();
  return {
    byId,
    of: (pod) => byId(idOf(pod) ?? ''),
    podsIn: memoize((namespace) =>
      [...podsIn(snapshot, namespace)].filter((placed) => isOnNode(placed) && ownerKeyOf(placed.pod) !== undefined),
    ),
  };
}

/** Pods of one template share their list of owners, which is looked up much faster than a text is made. */
function idOfOwner(): (pod: Pod) => string | undefined {
  const byNamespace = memoize((namespace: string) =>
    memoize((owners: Pod['owners']) => {
      const key = ownerKeyOf({ namespace, owners });
      return key && ownerId(key);
    }),
  );
  return ({ namespace, owners }) => byNamespace(namespace)(owners);
}
