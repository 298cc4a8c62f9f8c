import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import { podKey } from '#shared/domain/model/snapshot-pods.ts';
import type { Watch } from './filter.ts';
import { hasRoomFor, openRoom, release, take } from './room.ts';
import type { Refusal } from './refusal.ts';
import { resourceRefusal } from './node-resources-fit.ts';
import type { Screening } from './screening.ts';

/** A node on which pods are taken off and put back to see whether the incoming pod then fits; the snapshot stays as it is. */
export interface Trial {
  readonly takeOff: (placed: PlacedPod) => void;
  /** Puts a pod back unless the incoming pod would no longer fit; false where it stays off. */
  readonly putBack: (placed: PlacedPod) => boolean;
  /** Why the incoming pod does not fit now, as the first filter that fails says it. */
  readonly refusal: () => Refusal | undefined;
}

/** Opens a trial: a plain sum where only resources matter, else one that asks every filter. Both say the same. */
export function openTrial(screening: Screening, entry: NodeEntry): Trial {
  const expected = expectedPods(screening, entry);
  if (screening.isResourcesOnly && expected.length === 0) return openSum(screening, entry);
  return openInquiry(screening, entry, expected);
}

/** Pods that hold no place yet but must be expected: nominated to the node, of equal or higher priority. */
function expectedPods({ pod, priority }: Screening, { occupancy }: NodeEntry): readonly PlacedPod[] {
  return occupancy.nominated.filter((placed) => placed.priority >= priority && podKey(placed.pod) !== podKey(pod));
}

/** A trial on resources alone. */
function openSum({ needs }: Screening, entry: NodeEntry): Trial {
  const room = openRoom(needs, entry);
  return {
    takeOff: (placed) => release(room, placed),
    putBack: (placed) => {
      const isRoomy = hasRoomFor(room, placed);
      if (isRoomy) take(room, placed);
      return isRoomy;
    },
    refusal: () => resourceRefusal(room, entry),
  };
}

/**
 * A trial by all filters. Expected pods count as running there, and the incoming pod must fit both with and without
 * them. `pkg/scheduler/framework/runtime/framework.go` RunFilterPluginsWithNominatedPods.
 */
export function openInquiry(screening: Screening, entry: NodeEntry, expected: readonly PlacedPod[]): Trial {
  const crowded = expected.length === 0 ? [] : openWatches(screening, entry);
  for (const placed of expected) addTo(crowded, placed);
  const watches = [...crowded, ...openWatches(screening, entry)];
  return {
    takeOff: (placed) => removeFrom(watches, placed),
    putBack: (placed) => {
      addTo(watches, placed);
      if (firstRefusal(watches) === undefined) return true;
      removeFrom(watches, placed);
      return false;
    },
    refusal: () => firstRefusal(watches),
  };
}

function openWatches({ companyFilters }: Screening, entry: NodeEntry): readonly Watch[] {
  return companyFilters.map((filter) => filter.open(entry));
}

function addTo(watches: readonly Watch[], placed: PlacedPod): void {
  for (const watch of watches) watch.add(placed);
}

function removeFrom(watches: readonly Watch[], placed: PlacedPod): void {
  for (const watch of watches) watch.remove(placed);
}

function firstRefusal(watches: readonly Watch[]): Refusal | undefined {
  for (const watch of watches) {
    const refusal = watch.refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
