import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { SchedulingRules } from '#shared/domain/pod/pod.ts';
import { overTarget, relaxed, yardstickOf } from '#shared/domain/rescheduling/load.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import { nodeOf, type PassNode, podsWith } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { AffinityPolicy, Aggressiveness } from '#shared/domain/rescheduling/policy.ts';
import { type MovablePod, runningPod } from '#shared/domain/rescheduling/running-pod.ts';
import { ownPreferences, preferenceFor } from '#shared/domain/rescheduling/static-fit.ts';
import { type PlacedPod, TRAITS } from '#shared/domain/snapshot/placed-pod.ts';
import { antiAffinityCheck } from './anti-affinity.ts';
import { nodeAffinityCheck, podsByLabel, type RuleCheck, spreadCheck } from './broken-rules.ts';
import { type PolicyInput, type MoveCandidate, type CandidateGroup } from './move-candidate.ts';

/** The gain of repairing a broken rule, in points: more than any preference. */
export const RULE_GAIN = 100;
/** The minimum weight of preferred affinity that is worth a move. */
const LEAST_WEIGHT: Readonly<Record<Aggressiveness, number>> = { Low: 50, Medium: 20, High: 10 };
const PODS_PER_STEP = 10;
/** Number of candidates to sort at a time: thousands at once would take too long. */
const CANDIDATES_IN_GROUP = 200;

/** Pods whose rules are broken, then pods that prefer another node. */
export function* affinityCandidates(input: PolicyInput, affinity: AffinityPolicy): Steps<readonly CandidateGroup[]> {
  const checks = checksOf(input, affinity);
  const best = bestPreference(input);
  const broken: PlacedPod[] = [];
  const unmet: PlacedPod[] = [];
  const consider = (found: PlacedPod[], placed: PlacedPod, node: PassNode): void => {
    if (input.isMovable(placed, node)) found.push(placed);
  };
  let looked = 0;
  for (const node of input.cluster.nodes) {
    for (const placed of node.closed === undefined ? podsWith(node, TRAITS.placementRules) : []) {
      if (checks.some(({ isBroken }) => isBroken(placed, node))) consider(broken, placed, node);
      else if (affinity.preferred && isUnmet(input, [placed, node], best)) consider(unmet, placed, node);
      if ((looked += 1) % PODS_PER_STEP === 0) yield;
    }
    yield;
  }
  const repair = (each: PlacedPod): readonly MoveCandidate[] => brokenRuleCandidate(input, each, checks);
  const prefer = (each: PlacedPod): readonly MoveCandidate[] => unmetPreferenceCandidate(input, each, best);
  return [...groupsOf(broken, repair, 2), ...groupsOf(unmet, prefer, 1)];
}

type OnNode = readonly [PlacedPod, PassNode];

/**
 * Candidates are built only for the groups that are handled: keeping those of tens of thousands of pods slows the
 * garbage collector.
 */
function groupsOf(
  pods: readonly PlacedPod[],
  candidatesFor: (placed: PlacedPod) => readonly MoveCandidate[],
  urgency: number,
): readonly CandidateGroup[] {
  const count = Math.ceil(pods.length / CANDIDATES_IN_GROUP);
  return Array.from({ length: count }, (_, at) => ({
    candidates: () => pods.slice(at * CANDIDATES_IN_GROUP, (at + 1) * CANDIDATES_IN_GROUP).flatMap(candidatesFor),
    urgency: () => urgency,
  }));
}

function checksOf({ cluster }: PolicyInput, { required, spread }: AffinityPolicy): readonly RuleCheck[] {
  const labelled = podsByLabel(cluster);
  return [
    ...(required ? [nodeAffinityCheck(), antiAffinityCheck(cluster, labelled)] : []),
    ...(spread ? [spreadCheck(cluster, labelled)] : []),
  ];
}

/** The pod if it may still be moved, else `undefined`. */
function stillMovable({ cluster, rules }: PolicyInput, placed: PlacedPod): MovablePod | undefined {
  const movable = runningPod(cluster, [placed, nodeOf(cluster, placed)], rules);
  return movable?.kind === 'movable' ? movable.pod : undefined;
}

function brokenRuleCandidate(
  input: PolicyInput,
  placed: PlacedPod,
  checks: readonly RuleCheck[],
): readonly MoveCandidate[] {
  const pod = stillMovable(input, placed);
  if (pod === undefined) return [];
  const because = firstReason(checks, pod);
  if (because === undefined) return [];
  return [
    {
      policy: 'affinity',
      pod,
      because,
      worth: () => RULE_GAIN,
      gainOn: () => RULE_GAIN,
      leastGain: RULE_GAIN,
      reasonAgainst: () => undefined,
      avoidForMs: 0,
    },
  ];
}

function firstReason(checks: readonly RuleCheck[], { placed, node }: MovablePod): Because | undefined {
  for (const { why } of checks) {
    const because = why(placed, node);
    if (because !== undefined) return because;
  }
  return undefined;
}

/** The largest sum of preferred weights that an open node offers, once for all pods of a template. */
function bestPreference({ cluster }: PolicyInput): (rules: SchedulingRules) => number {
  const open = cluster.nodes.filter(({ closed }) => closed === undefined);
  const known = new Map<SchedulingRules, number>();
  return (rules) => {
    const best =
      known.get(rules) ?? open.reduce((most, { entry }) => Math.max(most, preferenceFor(entry.node, rules)), 0);
    known.set(rules, best);
    return best;
  };
}

function isUnmet({ policy }: PolicyInput, [placed, node]: OnNode, bestOf: (rules: SchedulingRules) => number): boolean {
  const rules = placed.pod.spec.scheduling;
  if (ownPreferences(rules).length === 0) return false;
  return bestOf(rules) - preferenceFor(node.entry.node, rules) >= LEAST_WEIGHT[policy.aggressiveness];
}

function unmetPreferenceCandidate(
  input: PolicyInput,
  placed: PlacedPod,
  bestOf: (rules: SchedulingRules) => number,
): readonly MoveCandidate[] {
  const pod = stillMovable(input, placed);
  if (pod === undefined) return [];
  const { aggressiveness, underused } = input.policy;
  const rules = placed.pod.spec.scheduling;
  const [weight, best] = [preferenceFor(pod.node.entry.node, rules), bestOf(rules)];
  const yardstick = underused && relaxed(yardstickOf(input.cluster, underused));
  return [
    {
      policy: 'affinity',
      pod,
      because: REASONS.preferredUnmet({ node: pod.node.name, weight, best }),
      worth: () => best - weight,
      gainOn: (target) => preferenceFor(target.entry.node, rules) - weight,
      leastGain: LEAST_WEIGHT[aggressiveness],
      reasonAgainst: (target) => yardstick && overTarget(yardstick, target, placed),
      avoidForMs: 0,
    },
  ];
}

/** Why a move for another reason would lose a preference that is met now; `undefined` if it would not. */
export function losesPreference(placed: PlacedPod, node: PassNode, target: PassNode): Because | undefined {
  const rules = placed.pod.spec.scheduling;
  if (ownPreferences(rules).length === 0) return undefined;
  const isWorse = preferenceFor(target.entry.node, rules) < preferenceFor(node.entry.node, rules);
  return isWorse ? REASONS.losesPreference({ node: target.name }) : undefined;
}
