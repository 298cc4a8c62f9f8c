import { PODS, REPLICA_SETS } from '#shared/kube/resource.ts';
import { isActive, isReady, ownedBy, type ReplicaSet, type RunningPod } from './wire-workloads.ts';
import { createPod, referenceTo, statusPatch, type Write } from './write.ts';

/** The number of pods that kube-controller-manager creates or removes at a time. */
const MAX_AT_ONCE = 500;

/** Brings the number of pods to the desired number (`pkg/controller/replicaset/replica_set.go`). */
export function planReplicaSet(replicaSet: ReplicaSet, pods: readonly RunningPod[]): readonly Write[] {
  const active = ownedBy(replicaSet, pods).filter(isActive);
  const isLeaving = replicaSet.metadata.deletionTimestamp !== undefined;
  return [...(isLeaving ? [] : adjust(replicaSet, active)), ...report(replicaSet, active)];
}

function adjust(replicaSet: ReplicaSet, active: readonly RunningPod[]): readonly Write[] {
  const missing = (replicaSet.spec.replicas ?? 1) - active.length;
  if (missing > 0) {
    const owner = referenceTo(replicaSet, 'apps/v1', 'ReplicaSet');
    const create = (): Write => createPod(replicaSet, owner, replicaSet.spec.template);
    return Array.from({ length: Math.min(missing, MAX_AT_ONCE) }, create);
  }
  return firstToGo(active)
    .slice(0, Math.min(-missing, MAX_AT_ONCE))
    .map((pod) => ({ kind: 'delete', resource: PODS, object: pod }));
}

/** Not yet on a node, then not ready, then the newest (`pkg/controller/controller_utils.go` ActivePodsWithRanks). */
function firstToGo(pods: readonly RunningPod[]): readonly RunningPod[] {
  return pods.toSorted(
    (left, right) =>
      Number(left.spec.nodeName !== undefined) - Number(right.spec.nodeName !== undefined) ||
      Number(isReady(left)) - Number(isReady(right)) ||
      (right.metadata.creationTimestamp ?? '').localeCompare(left.metadata.creationTimestamp ?? ''),
  );
}

function report(replicaSet: ReplicaSet, active: readonly RunningPod[]): readonly Write[] {
  const ready = active.filter(isReady).length;
  return statusPatch(REPLICA_SETS, replicaSet, {
    replicas: active.length,
    fullyLabeledReplicas: active.length,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: replicaSet.metadata.generation,
  });
}
