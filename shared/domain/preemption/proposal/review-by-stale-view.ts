import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeVerdict, Proposal, ProposalRules, ProposedVictims } from './proposal.ts';
import { takenAway } from './proposal.ts';
import { firstProtection, withinBudgets } from './review-proposal.ts';

/**
 * Reviews a proposal by a snapshot that is no longer kept up to date. A node with a victim that is known and protected is
 * taken away; every other node stays as kube-scheduler proposed it, also with victims that the snapshot does not know. No
 * other victims are chosen: kube-scheduler ignores an extender that names a pod which has gone, and would then take the
 * protected one (decision 25).
 */
export function reviewByStaleView(
  { placedPods }: Pick<ClusterSnapshot, 'placedPods'>,
  { pod, proposal }: Proposal,
  rules: ProposalRules,
): readonly NodeVerdict[] {
  const review = (victims: ProposedVictims): NodeVerdict => {
    const known = victims.uids.flatMap((uid) => placedPods.get(uid) ?? []);
    const guarded = firstProtection(known, pod, rules);
    return guarded === undefined ? withinBudgets({ kind: 'kept', victims }, rules) : takenAway(victims.node, guarded);
  };
  return proposal.map(review);
}
