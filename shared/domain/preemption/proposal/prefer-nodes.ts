import type { Steps } from '#shared/domain/model/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { isFreshReport } from '#shared/domain/snapshot/freshness.ts';
import { compareCosts, costOf, type VictimsCost } from '#shared/domain/preemption/victims/victims-cost.ts';
import { takenAway, type NodeVerdict, type ProposedVictims } from './proposal.ts';

const NODES_PER_STEP = 16;

interface Contender {
  readonly node: string;
  readonly cost: VictimsCost;
  readonly isUnderPressure: boolean;
  readonly overRequest: number;
}

/**
 * Of the best nodes, which kube-scheduler would tell apart only by the start times of their victims, keeps those on which
 * a threshold is met, and of these the ones with most victims that use more than they request. Other nodes stay as they
 * are: kube-scheduler prefers the best ones anyway.
 */
export function* preferNodes(
  verdicts: readonly NodeVerdict[],
  snapshot: ClusterSnapshot,
  now: Instant,
): Steps<readonly NodeVerdict[]> {
  const contenders: Contender[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind === 'takenAway') continue;
    contenders.push(contender(snapshot, verdict.victims, now));
    if (contenders.length % NODES_PER_STEP === 0) yield;
  }
  const [best, ...others] = contenders.toSorted(compareContenders);
  if (best === undefined) return verdicts;
  const worse = new Set(others.filter((other) => isEqualButWorse(other, best)).map(({ node }) => node));
  if (worse.size === 0) return verdicts;
  return verdicts.map((verdict) =>
    verdict.kind !== 'takenAway' && worse.has(verdict.victims.node)
      ? takenAway(verdict.victims.node, preferred(best))
      : verdict,
  );
}

function contender(
  snapshot: ClusterSnapshot,
  { node, uids, budgetViolations }: ProposedVictims,
  now: Instant,
): Contender {
  const facts = snapshot.pressures.get(node);
  const victims = uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []);
  const cost = costOf(victims, budgetViolations);
  if (facts === undefined || !isFreshReport(facts.observedAt, now))
    return { node, cost, isUnderPressure: false, overRequest: 0 };
  const overRequest = uids.filter((uid) => facts.overRequest.has(uid)).length;
  return { node, cost, isUnderPressure: facts.pressure !== undefined, overRequest };
}

function compareContenders(a: Contender, b: Contender): number {
  return compareCosts(a.cost, b.cost) || compareMerits(a, b);
}

function compareMerits(a: Contender, b: Contender): number {
  return Number(b.isUnderPressure) - Number(a.isUnderPressure) || b.overRequest - a.overRequest;
}

function isEqualButWorse(other: Contender, best: Contender): boolean {
  return compareCosts(other.cost, best.cost) === 0 && compareMerits(other, best) > 0;
}

function preferred({ node, isUnderPressure, overRequest }: Contender) {
  const text = `equal victims on ${node} relieve a node under pressure or use more than they request`;
  return { code: 'PreferredElsewhere', text, facts: { node, isUnderPressure, overRequest } };
}
