import type { ClusterSnapshot, PodsByNamespace } from './cluster-snapshot.ts';
import type { PlacedPod } from './placed-pod.ts';

/** The pods of a namespace. The first question groups the pods of all namespaces. */
export function podsIn(snapshot: ClusterSnapshot, namespace: string): Iterable<PlacedPod> {
  snapshot.podsByNamespace ??= group(snapshot.placedPods.values());
  return snapshot.podsByNamespace.get(namespace) ?? [];
}

/** Notes that the snapshot has a new pod. */
export function enter({ podsByNamespace }: ClusterSnapshot, placed: PlacedPod): void {
  if (podsByNamespace !== undefined) add(podsByNamespace, placed);
}

/** Notes that a pod has left the snapshot. */
export function leave({ podsByNamespace }: ClusterSnapshot, placed: PlacedPod): void {
  const { namespace } = placed.pod;
  const pods = podsByNamespace?.get(namespace);
  if (pods?.delete(placed) === true && pods.size === 0) podsByNamespace?.delete(namespace);
}

function group(all: Iterable<PlacedPod>): PodsByNamespace {
  const grouped: PodsByNamespace = new Map();
  for (const placed of all) add(grouped, placed);
  return grouped;
}

function add(grouped: PodsByNamespace, placed: PlacedPod): void {
  const { namespace } = placed.pod;
  const pods = grouped.get(namespace);
  if (pods === undefined) grouped.set(namespace, new Set([placed]));
  else pods.add(placed);
}
