import type { NodeEntry } from '#shared/domain/model/node-entry.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { CompanyFilter, Watch } from './filter.ts';
import type { Refusal } from './refusal.ts';

/** A trial by all filters. */
export interface Inquiry {
  readonly kind: 'inquiry';
  readonly pods: readonly PlacedPod[];
  readonly watches: readonly Watch[];
}

/**
 * Opens an inquiry. Expected pods count as running on the node, and the incoming pod must fit both with and without
 * them. `pkg/scheduler/framework/runtime/framework.go` RunFilterPluginsWithNominatedPods.
 */
export function openInquiry(
  filters: readonly CompanyFilter[],
  entry: NodeEntry,
  expected: readonly PlacedPod[],
): Inquiry {
  const crowded = expected.length === 0 ? [] : openWatches(filters, entry);
  for (const placed of expected) addTo(crowded, placed);
  return { kind: 'inquiry', pods: entry.occupancy.pods, watches: [...crowded, ...openWatches(filters, entry)] };
}

export function takeOffAsking({ pods, watches }: Inquiry, indexes: readonly number[]): void {
  for (const index of indexes) removeFrom(watches, pods[index]);
}

export function putBackAsking(inquiry: Inquiry, indexes: readonly number[]): readonly number[] {
  const { pods, watches } = inquiry;
  return indexes.filter((index) => {
    addTo(watches, pods[index]);
    if (inquiryRefusal(inquiry) === undefined) return false;
    removeFrom(watches, pods[index]);
    return true;
  });
}

/** The first filter that fails decides. */
export function inquiryRefusal({ watches }: Inquiry): Refusal | undefined {
  for (const watch of watches) {
    const refusal = watch.refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
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
