import type { Pod } from '#shared/domain/pod/pod.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import { splitByBudgets } from '#shared/domain/preemption/trial/budget-account.ts';
import type { LeavingPods } from '#shared/domain/preemption/trial/leaving-pods.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from '#shared/domain/preemption/trial/trial.ts';
import { lowerPods } from '#shared/domain/preemption/victims/victims-on-node.ts';

/**
 * Whether the model finds what kube-scheduler has found: as the node is, the incoming pod does not fit; without the
 * victims, by their indexes in order of importance, it does; and each of them has to go. If not, kube-scheduler has a
 * reason that the model does not know. `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function isReproduced(state: PrefilterState, entry: NodeEntry, victims: LeavingPods): boolean {
  if (state.nodeFilters.some((filter) => filter(entry) !== undefined)) return false;
  const trial = openTrial(state, entry);
  if (refusalIn(trial) === undefined) return false;
  takeOff(trial, victims);
  return refusalIn(trial) === undefined && putBack(trial, victims).length === victims.length;
}

/** Whether the incoming pod fits once these pods have left. */
export function fitsWithout(state: PrefilterState, entry: NodeEntry, leaving: LeavingPods): boolean {
  if (leaving.length === 0) return false;
  const trial = openTrial(state, entry);
  takeOff(trial, leaving);
  return refusalIn(trial) === undefined;
}

/** Victims that are needed, and for how many of them a disruption budget would be violated. */
export interface NeededVictims {
  readonly uids: readonly string[];
  readonly budgetViolations: number;
}

/** Victims from which those can be left out that leaving pods make unnecessary. */
export interface Reducible {
  readonly uids: readonly string[];
  readonly leaving: LeavingPods;
  /** These are left out first, then those that violate a budget. */
  readonly isSpared: (pod: Pod) => boolean;
}

/**
 * The victims that are needed in addition to leaving pods; `undefined` where all or none are. Those that leave themselves
 * stay named: without them kube-scheduler would take the node for a cheaper one than it is.
 */
export function neededBeside(
  state: PrefilterState,
  entry: NodeEntry,
  { uids, leaving, isSpared }: Reducible,
): NeededVictims | undefined {
  if (leaving.length === 0) return undefined;
  const { pods } = sheetOf(entry);
  const chosen = new Set(uids);
  const victims = pods.flatMap(({ pod }, index) => (chosen.has(pod.uid) && !leaving.includes(index) ? [index] : []));
  const trial = openTrial(state, entry);
  takeOff(trial, [...leaving, ...victims]);
  if (refusalIn(trial) !== undefined) return undefined;
  const { violators } = splitByBudgets(state.account, entry, lowerPods(entry, state));
  const ranks = new Map(victims.map((index) => [index, rankOf(isSpared(pods[index]?.pod as Pod), violators, index)]));
  const needed = putBack(
    trial,
    victims.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)),
  );
  if (needed.length === 0 || needed.length === victims.length) return undefined;
  const named = [...needed, ...leaving.filter((index) => chosen.has(pods[index]?.pod.uid ?? ''))].toSorted(
    (a, b) => a - b,
  );
  const budgetViolations = named.filter((index) => violators.includes(index)).length;
  return { uids: named.map((index) => pods[index]?.pod.uid ?? ''), budgetViolations };
}

function rankOf(isSpared: boolean, violators: LeavingPods, index: number): number {
  if (isSpared) return 0;
  return violators.includes(index) ? 1 : 2;
}
