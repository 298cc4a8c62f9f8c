import type { NodeEntry, NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { priorityAt, sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import { compareRank, type PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { splitByBudgets } from '#shared/domain/preemption/trial/budget-account.ts';
import type { Candidate, NoLowerPods, StillRefused } from './node-outcome.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from '#shared/domain/preemption/trial/trial.ts';
import { candidateOf } from './victims-cost.ts';
import type { VictimOrder } from './victim-order.ts';

/** Whether a pod may be taken at all, beyond the rule that a victim's priority is strictly lower. */
export type MayTake = (pod: Pod) => boolean;

/** How victims are chosen; unless given, as kube-scheduler does. */
export interface VictimOptions {
  readonly mayTake?: MayTake | undefined;
  /** Another order of importance; it must put higher priorities first. */
  readonly order?: VictimOrder;
}

/**
 * The pods that must leave a node so that the incoming pod fits: take all lower ones off, then put back the most
 * important first, those that break a budget before the rest, each that the incoming pod leaves room for.
 * `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function victimsOnNode(
  state: PrefilterState,
  entry: NodeEntry,
  options: VictimOptions = {},
): Candidate | NoLowerPods | StillRefused {
  const lower = lowerPods(entry, state, options);
  if (lower.length === 0) return { kind: 'noLowerPods', node: entry.node.name };
  const trial = openTrial(state, entry);
  takeOff(trial, lower);
  const refusal = refusalIn(trial);
  if (refusal !== undefined) return { kind: 'stillRefused', node: entry.node.name, refusal, removed: lower.length };
  const { violators, others } = splitByBudgets(state.account, entry, lower);
  return candidate(entry, putBack(trial, violators), putBack(trial, others));
}

/** The pods below a priority, by index, in order of importance: they stand at the end. */
export function lowerPods(
  entry: NodeEntry,
  { priority, tails }: PrefilterState,
  { mayTake, order }: VictimOptions = {},
): readonly number[] {
  const sheet = sheetOf(entry);
  let first = sheet.podCount;
  while (first > 0 && priorityAt(sheet, first - 1) < priority) first -= 1;
  const lower = tailOf(tails, first, sheet.podCount);
  const takeable = mayTake === undefined ? lower : lower.filter((index) => mayTake(podAt(sheet, index).pod));
  return order === undefined ? takeable : takeable.toSorted((a, b) => order(podAt(sheet, a), podAt(sheet, b)));
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
  const victims = podsAt(sheetOf(entry), indexes);
  // Of equals those that break a budget stay first: the scheduler sorts both lists as one, stably.
  if (violators.length > 0) victims.sort(compareRank);
  return candidateOf(entry.node.name, victims, violators.length);
}

function podsAt(sheet: NodeSheet, indexes: readonly number[]): PlacedPod[] {
  const found: PlacedPod[] = [];
  for (const index of indexes) found.push(podAt(sheet, index));
  return found;
}

function podAt({ pods }: NodeSheet, index: number): PlacedPod {
  return pods[index] as PlacedPod;
}
