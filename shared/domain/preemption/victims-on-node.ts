import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import { compareRank, type PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { podsBreakingBudgets } from './budget-violations.ts';
import type { Screening } from './screening.ts';
import { openTrial, type Trial } from './trial.ts';

/** Whether a pod may be taken at all, beyond the rule that a victim's priority is strictly lower. */
export type MayTake = (pod: Pod) => boolean;

/** Who must leave a node, or why nobody's leaving helps. */
export type VictimSearch =
  | { readonly kind: 'victims'; readonly victims: readonly PlacedPod[]; readonly budgetViolations: number }
  | { readonly kind: 'noLowerPods' }
  | { readonly kind: 'stillRefused'; readonly reasons: readonly string[]; readonly removed: number };

/**
 * The pods that must leave a node so that the incoming pod fits: take all lower ones off, then put back the most
 * important first, those that break a budget before the rest, each that the incoming pod leaves room for. Victims come
 * in order of importance. `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function victimsOnNode(screening: Screening, entry: NodeEntry, mayTake?: MayTake): VictimSearch {
  const lower = lowerPods(screening, entry, mayTake);
  if (lower.length === 0) return { kind: 'noLowerPods' };
  const trial = openTrial(screening, entry);
  for (const placed of lower) trial.takeOff(placed);
  const refusal = trial.refusal();
  if (refusal !== undefined) return { kind: 'stillRefused', reasons: refusal.reasons, removed: lower.length };
  return putBack(trial, lower);
}

/** The pods of lower priority stand at the end, as pods stand in order of importance. */
function lowerPods({ priority }: Screening, { occupancy }: NodeEntry, mayTake?: MayTake): readonly PlacedPod[] {
  const first = occupancy.pods.findIndex((placed) => placed.priority < priority);
  const lower = first < 0 ? [] : occupancy.pods.slice(first);
  return mayTake === undefined ? lower : lower.filter(({ pod }) => mayTake(pod));
}

function putBack(trial: Trial, lower: readonly PlacedPod[]): VictimSearch {
  const breaking = podsBreakingBudgets(lower);
  const stays = (placed: PlacedPod): boolean => trial.putBack(placed);
  const violators = lower.filter((placed) => breaking.has(placed) && !stays(placed));
  const others = lower.filter((placed) => !breaking.has(placed) && !stays(placed));
  return { kind: 'victims', victims: byImportance(violators, others), budgetViolations: violators.length };
}

/** Of equals those that break a budget come first: the scheduler sorts both lists as one, and the sort is stable. */
function byImportance(violators: readonly PlacedPod[], others: readonly PlacedPod[]): readonly PlacedPod[] {
  return violators.length === 0 ? others : [...violators, ...others].sort(compareRank);
}
