import { compareTexts } from '#shared/domain/base/texts.ts';
import { createSnapshot, type ClusterObjects } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { type NodeCandidate, chooseNode } from '#shared/domain/placement/victims/choose-node.ts';
import { planPreemption, type PreemptionPlan } from '#shared/domain/placement/plan/plan-preemption.ts';
import type { FindVictim } from './ask-extender.ts';

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
    }
  | { readonly kind: 'wait'; readonly pod: Pod; readonly message: string };

/** The candidates for a preemption that remain after the extender's review. */
export type ReviewCandidates = (
  pod: Pod,
  candidates: readonly NodeCandidate[],
  find: FindVictim,
) => Promise<readonly NodeCandidate[]>;

/**
 * Places waiting pods one by one, the most important first, each on the cluster that the earlier placements leave
 * (`pkg/scheduler/framework/plugins/queuesort/priority_sort.go`). `review` can narrow each preemption.
 */
export async function* planRound(
  cluster: ClusterObjects,
  waiting: readonly Pod[],
  review: ReviewCandidates,
): AsyncGenerator<Placement, void> {
  const snapshot = createSnapshot(cluster);
  for (const pod of waiting.toSorted(byImportance)) yield await place(snapshot, pod, review);
}

function byImportance(left: Pod, right: Pod): number {
  return (right.spec.priority ?? 0) - (left.spec.priority ?? 0) || (left.createdAt ?? 0) - (right.createdAt ?? 0);
}

async function place(snapshot: ClusterSnapshot, pod: Pod, review: ReviewCandidates): Promise<Placement> {
  const plan = planPreemption(snapshot, pod);
  switch (plan.kind) {
    case 'fits':
      return bind(snapshot, pod, emptiest(snapshot, plan.nodes));
    case 'preempt':
      return preempt(snapshot, pod, plan, review);
    case 'notEligible':
    case 'noCandidate':
      return { kind: 'wait', pod, message: `${plan.unschedulable} ${plan.message}` };
  }
}

/** The node with the fewest pods; the first by name among equals. */
function emptiest(snapshot: ClusterSnapshot, nodes: readonly string[]): string {
  const count = (name: string): number => snapshot.nodes.get(name)?.occupancy.pods.length ?? 0;
  return nodes.toSorted((left, right) => count(left) - count(right) || compareTexts(left, right))[0] ?? '';
}

function bind(snapshot: ClusterSnapshot, pod: Pod, node: string): Placement {
  putPod(snapshot, { ...pod, spec: { ...pod.spec, nodeName: node } });
  return { kind: 'bind', pod, node };
}

/** The room is kept for the pod by its nomination; it is bound in a later round, when the victims are gone. */
async function preempt(
  snapshot: ClusterSnapshot,
  pod: Pod,
  plan: Extract<PreemptionPlan, { kind: 'preempt' }>,
  review: ReviewCandidates,
): Promise<Placement> {
  const message = plan.unschedulable;
  const left = await review(pod, plan.candidates, victimsOf(snapshot));
  if (left.length === 0) return { kind: 'wait', pod, message: `${message} preemption: ${NO_CANDIDATE}` };
  const node = chooseNode(left).best[0] ?? '';
  const victims = left.find((candidate) => candidate.node === node)?.victims ?? [];
  putPod(snapshot, { ...pod, status: { ...pod.status, nominatedNodeName: node } });
  return { kind: 'preempt', pod, node, victims: victims.map((victim) => victim.pod), message };
}

/** kube-scheduler's message where extenders leave no node. */
const NO_CANDIDATE = 'no candidate node for preemption';

function victimsOf({ placedPods }: ClusterSnapshot): FindVictim {
  return (node, uid) => {
    const found = placedPods.get(uid);
    return found?.pod.spec.nodeName === node ? found : undefined;
  };
}
