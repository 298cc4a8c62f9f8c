import type { Because } from '#shared/domain/model/because.ts';
import { createSnapshot, type ClusterObjects } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { planPreemption, type PreemptionPlan } from '#shared/domain/preemption/plan-preemption.ts';

/** What to do for one waiting pod. */
export type Placement =
  | { readonly kind: 'bind'; readonly pod: Pod; readonly node: string }
  | {
      readonly kind: 'preempt';
      readonly pod: Pod;
      readonly node: string;
      readonly victims: readonly Pod[];
      /** Kubernetes' text on why the pod fits nowhere yet. */
      readonly message: string;
      readonly because: Because;
    }
  | { readonly kind: 'wait'; readonly pod: Pod; readonly message: string };

/**
 * Places waiting pods, the most important first, each on the cluster that the earlier placements leave
 * (`pkg/scheduler/framework/plugins/queuesort/priority_sort.go`).
 */
export function planRound(cluster: ClusterObjects, waiting: readonly Pod[]): readonly Placement[] {
  const snapshot = createSnapshot(cluster);
  return waiting.toSorted(byImportance).map((pod) => place(snapshot, pod));
}

function byImportance(left: Pod, right: Pod): number {
  return (right.spec.priority ?? 0) - (left.spec.priority ?? 0) || (left.createdAt ?? 0) - (right.createdAt ?? 0);
}

function place(snapshot: ClusterSnapshot, pod: Pod): Placement {
  const plan = planPreemption(snapshot, pod);
  switch (plan.kind) {
    case 'fits':
      return bind(snapshot, pod, emptiest(snapshot, plan.nodes));
    case 'preempt':
      return preempt(snapshot, pod, plan);
    case 'notEligible':
    case 'noCandidate':
      return { kind: 'wait', pod, message: `${plan.unschedulable} ${plan.message}` };
  }
}

/** The node with the fewest pods; the first by name among equals. */
function emptiest(snapshot: ClusterSnapshot, nodes: readonly string[]): string {
  const count = (name: string): number => snapshot.nodes.get(name)?.occupancy.pods.length ?? 0;
  return nodes.toSorted((left, right) => count(left) - count(right) || (left < right ? -1 : 1))[0] ?? '';
}

function bind(snapshot: ClusterSnapshot, pod: Pod, node: string): Placement {
  putPod(snapshot, { ...pod, spec: { ...pod.spec, nodeName: node } });
  return { kind: 'bind', pod, node };
}

/** The room is kept for the pod by its nomination; it is bound in a later round, when the victims are gone. */
function preempt(snapshot: ClusterSnapshot, pod: Pod, plan: Extract<PreemptionPlan, { kind: 'preempt' }>): Placement {
  const node = plan.best[0] ?? '';
  const victims = plan.candidates.find((candidate) => candidate.node === node)?.victims ?? [];
  putPod(snapshot, { ...pod, status: { ...pod.status, nominatedNodeName: node } });
  const message = plan.unschedulable;
  return { kind: 'preempt', pod, node, victims: victims.map((victim) => victim.pod), message, because: plan.because };
}
