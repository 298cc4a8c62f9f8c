import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** A pod that the API server shows. */
export interface SeenPod {
  readonly pod: Pod;
  readonly raw: KubeObject;
  /** What the snapshot held before; `undefined` for a pod that was neither on a node nor nominated to one. */
  readonly previous: PlacedPod | undefined;
}

/** Looks at a pod after the snapshot has taken it in. */
export type ObservePod = (seen: SeenPod, snapshot: ClusterSnapshot) => void;
