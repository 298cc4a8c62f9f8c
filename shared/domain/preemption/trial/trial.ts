import type { NodeEntry, NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import {
  filterRefusal,
  openFilterTrial,
  putBackByFilters,
  takeOffByFilters,
  type FilterTrial,
} from './filter-trial.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';
import type { PrefilterState } from './prefilter-state.ts';
import {
  openResourceTrial,
  putBackResources,
  takeOffResources,
  resourceTrialRefusal,
  type ResourceTrial,
} from './resource-trial.ts';

/**
 * A node on which pods are taken off and put back to see whether the incoming pod then fits; the snapshot stays as it
 * is. Pods go by their index in the node's order of importance. A resource trial only adds up resources, a filter
 * trial runs every filter; where the first is enough, both give the same answer.
 */
export type Trial = ResourceTrial | FilterTrial;

const NO_PODS: readonly PlacedPod[] = [];

/** Opens a trial with all present pods of the node. */
export function openTrial(state: PrefilterState, entry: NodeEntry): Trial {
  const expected = expectedPods(state, entry);
  if (expected.length === 0 && areResourcesEnough(state, sheetOf(entry))) return openResourceTrial(state, entry);
  return openFilterTrial(state.podAwareFilters, entry, expected);
}

/** Takes pods off the node. */
export function takeOff(trial: Trial, indexes: readonly number[]): void {
  if (trial.kind === 'resources') takeOffResources(trial, indexes);
  else takeOffByFilters(trial, indexes);
}

/** Puts pods back one after the other; those for which the incoming pod leaves no room stay off and are returned. */
export function putBack(trial: Trial, indexes: readonly number[]): readonly number[] {
  return trial.kind === 'resources' ? putBackResources(trial, indexes) : putBackByFilters(trial, indexes);
}

/** Why the incoming pod does not fit now, as the first filter that fails says it. */
export function refusalIn(trial: Trial): Refusal | undefined {
  return trial.kind === 'resources' ? resourceTrialRefusal(trial) : filterRefusal(trial);
}

function areResourcesEnough({ isResourcesOnly, needs }: PrefilterState, { isExact, width }: NodeSheet): boolean {
  return isResourcesOnly && isExact && needs.every(({ column }) => column < width);
}

/** Pods that hold no place yet but must be expected: nominated to the node, of equal or higher priority. */
function expectedPods({ pod, priority }: PrefilterState, entry: NodeEntry): readonly PlacedPod[] {
  if (!sheetOf(entry).isPromised) return NO_PODS;
  const { nominated } = entry.occupancy;
  return nominated.filter((placed) => placed.priority >= priority && podKey(placed.pod) !== podKey(pod));
}
