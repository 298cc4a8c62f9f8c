import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import { splitByBudgets } from '#shared/domain/preemption/trial/budget-account.ts';
import type { LeavingPods } from '#shared/domain/preemption/trial/leaving-pods.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from '#shared/domain/preemption/trial/trial.ts';

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

/** The victims that are needed in addition to leaving pods; `undefined` where all are, or it cannot be decided. */
export function neededBeside(
  state: PrefilterState,
  entry: NodeEntry,
  leaving: LeavingPods,
  uids: readonly string[],
): NeededVictims | undefined {
  if (leaving.length === 0) return undefined;
  const { pods } = sheetOf(entry);
  const chosen = new Set(uids);
  const victims = pods.flatMap(({ pod }, index) => (chosen.has(pod.uid) && !leaving.includes(index) ? [index] : []));
  const trial = openTrial(state, entry);
  takeOff(trial, [...leaving, ...victims]);
  if (refusalIn(trial) !== undefined) return undefined;
  const needed = putBack(trial, victims);
  if (needed.length === 0 || needed.length === uids.length) return undefined;
  const { violators } = splitByBudgets(state.account, entry, needed);
  return { uids: needed.map((index) => pods[index]?.pod.uid ?? ''), budgetViolations: violators.length };
}
