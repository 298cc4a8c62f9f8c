import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { lostWith } from '#shared/domain/gang/gang-cost.ts';
import { compareCosts, costOf, type VictimsCost } from '#shared/domain/placement/victims/choose-node.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type NodeVerdict, type ProposalRules, type ProposedVictims, removed } from './proposal.ts';

interface TrueCost {
  readonly node: string;
  readonly lost: number;
  readonly cost: VictimsCost;
}

const NODES_PER_STEP = 16;

/**
 * Compares nodes by what their victims cost with all pods of the gangs that fall below their minimum, and removes those
 * that cost a gang and more than the cheapest. That one stays, so the pod finds room. Nodes that cost no gang stay too:
 * kube-scheduler compares them itself.
 */
export function* sparingGangs(
  verdicts: readonly NodeVerdict[],
  snapshot: Pick<ClusterSnapshot, 'placedPods'>,
  { gangs }: Pick<ProposalRules, 'gangs'>,
): Steps<readonly NodeVerdict[]> {
  if (gangs === undefined || !gangs.isAny) return verdicts;
  const costs = yield* collectInSteps(
    verdicts,
    (verdict) => (verdict.kind === 'removed' ? undefined : trueCost(verdict.victims, snapshot, gangs)),
    NODES_PER_STEP,
  );
  const [best] = costs.toSorted((a, b) => compareCosts(a.cost, b.cost) || a.lost - b.lost);
  if (best === undefined) return verdicts;
  const worse = new Map(
    costs.filter(({ cost, lost }) => lost > 0 && compareCosts(cost, best.cost) > 0).map((each) => [each.node, each]),
  );
  if (worse.size === 0) return verdicts;
  return verdicts.map((verdict) => {
    const found = verdict.kind === 'removed' ? undefined : worse.get(verdict.victims.node);
    return found === undefined ? verdict : removed(found.node, costsGang(found, best));
  });
}

function trueCost(
  { node, uids, budgetViolations }: ProposedVictims,
  { placedPods }: Pick<ClusterSnapshot, 'placedPods'>,
  gangs: NonNullable<ProposalRules['gangs']>,
): TrueCost {
  const lost = lostWith(uids, (uid) => gangs.of({ uid }));
  const pods = [...uids, ...lost].flatMap((uid): readonly PlacedPod[] => {
    const placed = placedPods.get(uid);
    return placed === undefined ? [] : [placed];
  });
  return { node, lost: lost.length, cost: costOf(pods, budgetViolations) };
}

function costsGang({ node, lost }: TrueCost, best: TrueCost): Because {
  const text = `the victims on ${node} leave a gang below its minimum, which costs ${lost} more pods: ${best.node} costs less`;
  return { code: 'CostsGang', text, facts: { node, lost, better: best.node } };
}
