import type { Because } from '#shared/domain/base/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import {
  type NodeCandidate,
  candidateOf,
  chooseNode,
  type RejectedNode,
} from '#shared/domain/placement/victims/choose-node.ts';
import { examineNodes } from '#shared/domain/placement/trial/examine-nodes.ts';
import { becauseOfChoice, planPreemption, type PreemptionPlan } from '#shared/domain/placement/plan/plan-preemption.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { FilterRefusal } from '#shared/domain/placement/filters/node-filters.ts';
import type { NodeVerdict, ProposalRules, ProposedVictims } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { roomSoon } from '#shared/domain/preemption/proposal/wait-for-room.ts';

/** A node on which the extender allows no preemption, and why. */
export interface RemovedNode {
  readonly kind: 'removed';
  readonly node: string;
  readonly because: Because;
}

/** A node on which the pod does not fit, for a pod that may not preempt at all. */
export interface RefusedNode {
  readonly kind: 'refused';
  readonly node: string;
  /** Absent if the pod's affinity names other nodes. */
  readonly refusal: FilterRefusal | undefined;
}

/** A node on which the pod is not placed. */
export type RuledOutNode = RejectedNode | RemovedNode | RefusedNode;

/** The result of one scheduling attempt of kube-scheduler. */
export type Simulation =
  /** No pod has to be preempted. Scores decide between these nodes; they are not computed. */
  | { readonly kind: 'fits'; readonly nodes: readonly string[]; readonly because: Because }
  /** Terminating pods make room; no pod is preempted until they are gone. */
  | {
      readonly kind: 'waits';
      readonly node: string;
      readonly because: Because;
      readonly ruledOut: readonly RuledOutNode[];
    }
  | {
      readonly kind: 'preempts';
      readonly chosen: NodeCandidate;
      /** Every node on which room can be made, including the chosen one. */
      readonly candidates: readonly NodeCandidate[];
      readonly ruledOut: readonly RuledOutNode[];
      /** Nodes that Kubernetes ranks equally with the chosen one, which is the first of them by name. */
      readonly equals: readonly string[];
      readonly because: Because;
    }
  | { readonly kind: 'notPlaceable'; readonly ruledOut: readonly RuledOutNode[]; readonly because: Because };

/** The extender that kube-scheduler calls: its rules, and the time at which leaving pods are counted. */
export interface SimulatedExtender {
  readonly rules: ProposalRules;
  readonly now: Instant;
}

/**
 * Simulates one attempt of kube-scheduler to place a pod: on the nodes as they are, else by preemption, reviewed by our
 * extender if one is given. The snapshot is not changed.
 */
export function simulatePreemption(snapshot: ClusterSnapshot, pod: Pod, extender?: SimulatedExtender): Simulation {
  const plan = planPreemption(snapshot, pod);
  switch (plan.kind) {
    case 'fits':
      return plan;
    case 'notEligible':
      return notEligible(plan, snapshot, pod);
    case 'noCandidate':
      return { kind: 'notPlaceable', ruledOut: plan.rejected, because: plan.because };
    case 'preempt':
      return extender === undefined
        ? preempts(plan, plan)
        : reviewed(plan, reviewAll(snapshot, pod, plan, extender), snapshot);
  }
}

type Preempt = Extract<PreemptionPlan, { kind: 'preempt' }>;

function notEligible(
  { because }: Extract<PreemptionPlan, { kind: 'notEligible' }>,
  snapshot: ClusterSnapshot,
  pod: Pod,
): Simulation {
  const ruledOut = refusals(snapshot, pod);
  if (because.code !== 'victimsStillTerminating') return { kind: 'notPlaceable', ruledOut, because };
  return { kind: 'waits', node: pod.status.nominatedNodeName ?? '', because, ruledOut };
}

function refusals(snapshot: ClusterSnapshot, pod: Pod): readonly RefusedNode[] {
  const examination = examineNodes(prefilter(snapshot, pod));
  if (examination.kind === 'fits') return [];
  return examination.examined.map(({ entry, refusal }) => ({ kind: 'refused', node: entry.node.name, refusal }));
}

function reviewAll(
  snapshot: ClusterSnapshot,
  pod: Pod,
  { candidates }: Preempt,
  { rules, now }: SimulatedExtender,
): readonly NodeVerdict[] {
  const proposal = candidates.map(({ node, victims, budgetViolations }) => ({
    node,
    uids: victims.map((victim) => podKey(victim.pod)),
    budgetViolations,
  }));
  return reviewProposal(snapshot, { pod, proposal, now }, rules);
}

function reviewed(plan: Preempt, verdicts: readonly NodeVerdict[], snapshot: ClusterSnapshot): Simulation {
  const removed = verdicts.filter((verdict) => verdict.kind === 'removed');
  const candidates = verdicts.flatMap((verdict, index) => candidateLeft(verdict, plan.candidates[index], snapshot));
  const ruledOut = [...plan.rejected, ...removed];
  if (candidates.length === 0) return noneLeft(removed, ruledOut);
  return waitsIfTerminating(preempts(plan, { candidates, rejected: ruledOut }));
}

/** If all victims are already terminating, they are named only to keep their room. */
function waitsIfTerminating(simulation: Simulation): Simulation {
  if (simulation.kind !== 'preempts') return simulation;
  const { chosen, ruledOut } = simulation;
  if (!chosen.victims.every(({ pod }) => pod.deletion !== undefined)) return simulation;
  return { kind: 'waits', node: chosen.node, because: roomSoon(chosen.node), ruledOut };
}

function candidateLeft(
  verdict: NodeVerdict,
  proposed: NodeCandidate | undefined,
  snapshot: ClusterSnapshot,
): readonly NodeCandidate[] {
  if (verdict.kind === 'removed' || proposed === undefined) return [];
  return [verdict.kind === 'kept' ? proposed : changedCandidate(verdict.victims, snapshot)];
}

function changedCandidate({ node, uids, budgetViolations }: ProposedVictims, snapshot: ClusterSnapshot): NodeCandidate {
  const victims = uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []);
  return candidateOf(node, victims, budgetViolations);
}

function noneLeft(removed: readonly RemovedNode[], ruledOut: readonly RuledOutNode[]): Simulation {
  const soon = removed.find(({ because }) => because.code === 'RoomSoon');
  if (soon !== undefined) return { kind: 'waits', node: soon.node, because: soon.because, ruledOut };
  const text = 'no pod that stands in the way may be preempted';
  return { kind: 'notPlaceable', ruledOut, because: { code: 'Protected', text, facts: { nodes: removed.length } } };
}

interface SimulatedNodes {
  readonly candidates: readonly NodeCandidate[];
  readonly rejected: readonly RuledOutNode[];
}

function preempts({ because }: Preempt, { candidates, rejected }: SimulatedNodes): Simulation {
  const choice = chooseNode(candidates);
  const chosen = candidates.find(({ node }) => node === choice.best[0]);
  if (chosen === undefined) return { kind: 'notPlaceable', ruledOut: rejected, because };
  return {
    kind: 'preempts',
    chosen,
    candidates,
    ruledOut: rejected,
    equals: choice.best,
    because: becauseOfChoice(choice, candidates.length, rejected.length),
  };
}
