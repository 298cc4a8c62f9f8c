import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { CompanyFilter, Watch } from './filter.ts';
import type { Refusal } from './refusal.ts';
import type { Trial } from './trial.ts';

/**
 * A trial by all filters. Expected pods count as running there, and the incoming pod must fit both with and without
 * them. `pkg/scheduler/framework/runtime/framework.go` RunFilterPluginsWithNominatedPods.
 */
export function openInquiry(
  filters: readonly CompanyFilter[],
  entry: NodeEntry,
  expected: readonly PlacedPod[],
): Trial {
  const crowded = expected.length === 0 ? [] : openWatches(filters, entry);
  for (const placed of expected) addTo(crowded, placed);
  const watches = [...crowded, ...openWatches(filters, entry)];
  const { pods } = entry.occupancy;
  const stays = (index: number): boolean => {
    addTo(watches, pods[index]);
    if (firstRefusal(watches) === undefined) return true;
    removeFrom(watches, pods[index]);
    return false;
  };
  return {
    takeOff: (indexes) => {
      for (const index of indexes) removeFrom(watches, pods[index]);
    },
    putBack: (indexes) => indexes.filter((index) => !stays(index)),
    refusal: () => firstRefusal(watches),
  };
}

function openWatches(filters: readonly CompanyFilter[], entry: NodeEntry): readonly Watch[] {
  return filters.map((filter) => filter.open(entry));
}

function addTo(watches: readonly Watch[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const watch of watches) watch.add(placed);
}

function removeFrom(watches: readonly Watch[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const watch of watches) watch.remove(placed);
}

function firstRefusal(watches: readonly Watch[]): Refusal | undefined {
  for (const watch of watches) {
    const refusal = watch.refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
