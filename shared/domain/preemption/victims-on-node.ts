import type { NodeEntry, NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { priorityAt, sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import { compareRank, type PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { splitByBudgets } from './budget-account.ts';
import type { Candidate, NoLowerPods, StillRefused } from './node-outcome.ts';
import type { PrefilterState } from './prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from './trial.ts';

/** Added to each priority, so that none is below 0 and more victims always weigh more. */
const PRIORITY_SHIFT = 2 ** 31;

/** Whether a pod may be taken at all, beyond the rule that a victim's priority is strictly lower. */
export type MayTake = (pod: Pod) => boolean;

/**
 * The pods that must leave a node so that the incoming pod fits: take all lower ones off, then put back the most
 * important first, those that break a budget before the rest, each that the incoming pod leaves room for.
 * `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function victimsOnNode(
  state: PrefilterState,
  entry: NodeEntry,
  mayTake?: MayTake,
): Candidate | NoLowerPods | StillRefused {
  const lower = lowerPods(entry, state, mayTake);
  if (lower.length === 0) return { kind: 'noLowerPods', node: entry.node.name };
  const trial = openTrial(state, entry);
  takeOff(trial, lower);
  const refusal = refusalIn(trial);
  if (refusal !== undefined) return { kind: 'stillRefused', node: entry.node.name, refusal, removed: lower.length };
  const { violators, others } = splitByBudgets(state.account, entry, lower);
  return candidate(entry, putBack(trial, violators), putBack(trial, others));
}

/** The pods below a priority, by index, in order of importance: they stand at the end. */
function lowerPods(entry: NodeEntry, { priority, tails }: PrefilterState, mayTake?: MayTake): readonly number[] {
  const sheet = sheetOf(entry);
  let first = sheet.podCount;
  while (first > 0 && priorityAt(sheet, first - 1) < priority) first -= 1;
  const lower = tailOf(tails, first, sheet.podCount);
  if (mayTake === undefined) return lower;
  return lower.filter((index) => podsAt(sheet, [index]).some(({ pod }) => mayTake(pod)));
}

/** The numbers from `first` up to `end`; nodes of a cluster are much alike, so a plan makes most of them once. */
function tailOf(tails: Map<number, readonly number[]>[], first: number, end: number): readonly number[] {
  const ending = (tails[end] ??= new Map());
  const known = ending.get(first);
  if (known !== undefined) return known;
  const tail = Array.from({ length: end - first }, (_, at) => first + at);
  ending.set(first, tail);
  return tail;
}

function candidate(entry: NodeEntry, violators: readonly number[], others: readonly number[]): Candidate {
  const indexes = violators.length === 0 ? others : [...violators, ...others];
  const sheet = sheetOf(entry);
  let topPriority = -PRIORITY_SHIFT;
  let prioritySum = 0;
  for (const index of indexes) {
    const priority = priorityAt(sheet, index);
    topPriority = Math.max(topPriority, priority);
    prioritySum += priority + PRIORITY_SHIFT;
  }
  const victims = podsAt(sheet, indexes);
  // Of equals those that break a budget stay first: the scheduler sorts both lists as one, stably.
  if (violators.length > 0) victims.sort(compareRank);
  return {
    kind: 'candidate',
    node: entry.node.name,
    victims,
    budgetViolations: violators.length,
    topPriority,
    prioritySum,
  };
}

function podsAt({ pods }: NodeSheet, indexes: readonly number[]): PlacedPod[] {
  const found: PlacedPod[] = [];
  for (const index of indexes) found.push(pods[index] as PlacedPod);
  return found;
}
