import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { PodAwareFilter, FilterState } from '#shared/domain/preemption/filters/filter.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';

/** A trial with every filter. */
export interface FilterTrial {
  readonly kind: 'filters';
  readonly pods: readonly PlacedPod[];
  readonly states: readonly FilterState[];
}

/**
 * Opens a trial. Expected pods count as running on the node, and the incoming pod must fit both with and without
 * them. `pkg/scheduler/framework/runtime/framework.go` RunFilterPluginsWithNominatedPods.
 */
export function openFilterTrial(
  filters: readonly PodAwareFilter[],
  entry: NodeEntry,
  expected: readonly PlacedPod[],
): FilterTrial {
  const withExpected = expected.length === 0 ? [] : openStates(filters, entry);
  for (const placed of expected) addTo(withExpected, placed);
  return { kind: 'filters', pods: entry.occupancy.pods, states: [...withExpected, ...openStates(filters, entry)] };
}

export function takeOffByFilters({ pods, states }: FilterTrial, indexes: readonly number[]): void {
  for (const index of indexes) removeFrom(states, pods[index]);
}

export function putBackByFilters(trial: FilterTrial, indexes: readonly number[]): readonly number[] {
  const { pods, states } = trial;
  return indexes.filter((index) => {
    addTo(states, pods[index]);
    if (filterRefusal(trial) === undefined) return false;
    removeFrom(states, pods[index]);
    return true;
  });
}

/** The first filter that fails decides. */
export function filterRefusal({ states }: FilterTrial): Refusal | undefined {
  for (const state of states) {
    const refusal = state.refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function openStates(filters: readonly PodAwareFilter[], entry: NodeEntry): readonly FilterState[] {
  return filters.map((filter) => filter.open(entry));
}

function addTo(states: readonly FilterState[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const state of states) state.add(placed);
}

function removeFrom(states: readonly FilterState[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const state of states) state.remove(placed);
}
