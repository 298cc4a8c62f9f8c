import { minus } from '#shared/domain/quantity/whole.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Move } from './pass.ts';

/** What has changed since the pass was planned (S3-33): the pod, its node, or the node it was expected on. */
export function whyOutdated({ pod, expectedOn }: Move, { placedPods, nodes }: ClusterSnapshot): string | undefined {
  const { uid } = pod.placed.pod;
  const now = placedPods.get(uid)?.pod;
  if (now === undefined || now.deletion !== undefined) return 'the pod is gone or terminating';
  const target = nodes.get(expectedOn[0] ?? '');
  if (target === undefined || target.node.isUnschedulable) return `node ${expectedOn[0] ?? ''} no longer accepts pods`;
  const { row } = pod.placed;
  const { allocatable, node, occupancy } = target;
  const isFull = row.some(
    (amount, column) => amount > 0 && minus(allocatable[column] ?? 0, occupancy.requested[column] ?? 0) < amount,
  );
  return isFull ? `other pods have taken the room on node ${node.name}` : undefined;
}
