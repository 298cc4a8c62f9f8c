import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { SchedulingRules } from '#shared/domain/pod/pod.ts';
import { overTarget, relaxed, yardstickOf } from '#shared/domain/rescheduling/load.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import { type PassNode, podsWith } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { AffinityPolicy, Aggressiveness } from '#shared/domain/rescheduling/policy.ts';
import { ownPreferences, preferenceFor } from '#shared/domain/rescheduling/static-fit.ts';
import { type PlacedPod, TRAITS } from '#shared/domain/snapshot/placed-pod.ts';
import { antiAffinityCheck, nodeAffinityCheck, type RuleCheck, spreadCheck } from './broken-rules.ts';
import { type PolicyInput, type Wish, type WishGroup } from './wish.ts';

/** A broken rule that is mended, in points: more than any preference. */
export const RULE_GAIN = 100;
/** The least weight of preferred affinity that is worth a move. */
const LEAST_WEIGHT: Readonly<Record<Aggressiveness, number>> = { Low: 50, Medium: 20, High: 10 };
const PODS_PER_STEP = 10;
/** Wishes that are put in order at a time: thousands at once would take too long. */
const WISHES_IN_GROUP = 200;

/** Pods whose rules are broken, then pods that would like another node better. */
export function* wishesOfAffinity(input: PolicyInput, affinity: AffinityPolicy): Steps<readonly WishGroup[]> {
  const checks = checksOf(input, affinity);
  const best = bestPreference(input);
  const broken: Wish[] = [];
  const unmet: Wish[] = [];
  let looked = 0;
  for (const node of input.cluster.nodes) {
    for (const placed of node.closed === undefined ? podsWith(node, TRAITS.placementRules) : []) {
      const rule = firstBroken(checks, placed, node);
      if (rule !== undefined) broken.push(...brokenWish(input, [placed, node], rule));
      else if (affinity.preferred) unmet.push(...unmetWish(input, [placed, node], best));
      if ((looked += 1) % PODS_PER_STEP === 0) yield;
    }
    yield;
  }
  return [...groupsOf(broken, 2), ...groupsOf(unmet, 1)];
}

function groupsOf(wishes: readonly Wish[], urgency: number): readonly WishGroup[] {
  const count = Math.ceil(wishes.length / WISHES_IN_GROUP);
  return Array.from({ length: count }, (_, at) => {
    const part = wishes.slice(at * WISHES_IN_GROUP, (at + 1) * WISHES_IN_GROUP);
    return { wishes: () => part, urgency: () => urgency };
  });
}

function checksOf({ cluster }: PolicyInput, { required, spread }: AffinityPolicy): readonly RuleCheck[] {
  return [
    ...(required ? [nodeAffinityCheck(), antiAffinityCheck(cluster)] : []),
    ...(spread ? [spreadCheck(cluster)] : []),
  ];
}

function firstBroken(checks: readonly RuleCheck[], placed: PlacedPod, node: PassNode): Because | undefined {
  for (const check of checks) {
    const because = check(placed, node);
    if (because !== undefined) return because;
  }
  return undefined;
}

/** What all wishes to mend a rule have in common: there may be tens of thousands. */
const MEND = {
  policy: 'affinity',
  worth: () => RULE_GAIN,
  gainOn: () => RULE_GAIN,
  leastGain: RULE_GAIN,
  reasonAgainst: () => undefined,
  avoidForMs: 0,
} as const;

function brokenWish(
  input: PolicyInput,
  [placed, node]: readonly [PlacedPod, PassNode],
  because: Because,
): readonly Wish[] {
  const movable = input.movable(placed, node);
  if (movable?.kind !== 'movable') return [];
  return [{ ...MEND, pod: movable.pod, because }];
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

function unmetWish(
  input: PolicyInput,
  [placed, node]: readonly [PlacedPod, PassNode],
  bestOf: (rules: SchedulingRules) => number,
): readonly Wish[] {
  const rules = placed.pod.spec.scheduling;
  if (ownPreferences(rules).length === 0) return [];
  const weight = preferenceFor(node.entry.node, rules);
  const best = bestOf(rules);
  const { aggressiveness, underused } = input.policy;
  if (best - weight < LEAST_WEIGHT[aggressiveness]) return [];
  const movable = input.movable(placed, node);
  if (movable?.kind !== 'movable') return [];
  const yardstick = underused && relaxed(yardstickOf(input.cluster, underused));
  return [
    {
      policy: 'affinity',
      pod: movable.pod,
      because: REASONS.preferredUnmet({ node: node.name, weight, best }),
      worth: () => best - weight,
      gainOn: (target) => preferenceFor(target.entry.node, rules) - weight,
      leastGain: LEAST_WEIGHT[aggressiveness],
      reasonAgainst: (target) => yardstick && overTarget(yardstick, target, placed),
      avoidForMs: 0,
    },
  ];
}

/** Why a move for another reason would cost the pod a preference that is met now; `undefined` where it would not. */
export function losesPreference(placed: PlacedPod, node: PassNode, target: PassNode): Because | undefined {
  const rules = placed.pod.spec.scheduling;
  if (ownPreferences(rules).length === 0) return undefined;
  const isWorse = preferenceFor(target.entry.node, rules) < preferenceFor(node.entry.node, rules);
  return isWorse ? REASONS.losesPreference({ node: target.name }) : undefined;
}
