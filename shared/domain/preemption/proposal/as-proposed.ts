import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type NodeVerdict, type Proposal, type ProposalRules, type ProposedVictims, takenAway } from './proposal.ts';

type Known = Pick<ClusterSnapshot, 'placedPods'>;

/**
 * Reviews a proposal by a snapshot that is no longer kept up to date: no node gets other victims. kube-scheduler ignores
 * an extender that names a pod which has gone, and would then take the protected one (decision 25).
 */
export function reviewByStaleView(
  snapshot: Known,
  { pod, proposal }: Proposal,
  rules: ProposalRules,
): readonly NodeVerdict[] {
  return proposal.map((victims) => asProposed(snapshot, pod, victims, rules));
}

/**
 * The verdict on a node where kube-scheduler knows more than the snapshot: it stays as it was proposed, also with victims
 * that the snapshot does not know. With a victim that is known and protected it is taken away (decision 38).
 */
export function asProposed(
  { placedPods }: Known,
  preemptor: Pod,
  victims: ProposedVictims,
  rules: ProposalRules,
): NodeVerdict {
  if (victims.uids.length === 0) return takenAway(victims.node, noVictims(victims.node));
  const known = victims.uids.flatMap((uid) => placedPods.get(uid) ?? []);
  const guarded = firstProtection(known, preemptor, rules);
  return guarded === undefined ? withinBudgets({ kind: 'kept', victims }, rules) : takenAway(victims.node, guarded);
}

/**
 * Why the first protected one of these victims must not be preempted; `undefined` where all may be. A victim that is
 * terminating already loses nothing: kube-scheduler deletes no pod a second time.
 */
export function firstProtection(
  victims: readonly PlacedPod[],
  preemptor: Pod,
  { protection }: ProposalRules,
): Because | undefined {
  for (const { pod } of victims) {
    const because = pod.deletion === undefined ? protection(pod, preemptor) : undefined;
    if (because !== undefined) return because;
  }
  return undefined;
}

/** Takes the node away where budgets are hard and one of them would be violated. */
export function withinBudgets(left: Exclude<NodeVerdict, { kind: 'takenAway' }>, rules: ProposalRules): NodeVerdict {
  const { node, budgetViolations } = left.victims;
  return rules.budgets === 'Hard' && budgetViolations > 0 ? takenAway(node, overBudget(node, budgetViolations)) : left;
}

function overBudget(node: string, budgetViolations: number): Because {
  const text = `the preemption of ${budgetViolations} victims on ${node} would violate a disruption budget`;
  return { code: 'OverBudget', text, facts: { node, budgetViolations } };
}

/** kube-scheduler proposes none, and takes an answer that names no pod for a mistake. */
function noVictims(node: string): Because {
  return { code: 'NoVictims', text: `the proposal names no victim on ${node}`, facts: { node } };
}
