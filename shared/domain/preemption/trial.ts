import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import { sheetOf } from '#shared/domain/model/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import { podKey } from '#shared/domain/model/snapshot-pods.ts';
import { openInquiry } from './inquiry.ts';
import type { Refusal } from './refusal.ts';
import type { Screening } from './screening.ts';
import { openTally } from './tally.ts';

/**
 * A node on which pods are taken off and put back to see whether the incoming pod then fits; the snapshot stays as it
 * is. Pods go by their index in the node's order of importance.
 */
export interface Trial {
  readonly takeOff: (indexes: readonly number[]) => void;
  /** Puts back one after the other, except whom the incoming pod leaves no room for; those stay off and are returned. */
  readonly putBack: (indexes: readonly number[]) => readonly number[];
  /** Why the incoming pod does not fit now, as the first filter that fails says it. */
  readonly refusal: () => Refusal | undefined;
}

const NOBODY: readonly PlacedPod[] = [];

/** Opens a trial: plain sums where nothing but resources matters, else every filter is asked. Both say the same. */
export function openTrial(screening: Screening, entry: NodeEntry): Trial {
  const expected = expectedPods(screening, entry);
  if (expected.length === 0 && isTallyEnough(screening, entry)) return openTally(screening.needs, entry);
  return openInquiry(screening.companyFilters, entry, expected);
}

function isTallyEnough({ isResourcesOnly, needs }: Screening, entry: NodeEntry): boolean {
  const { isExact, width } = sheetOf(entry);
  return isResourcesOnly && isExact && needs.every(({ column }) => column < width);
}

/** Pods that hold no place yet but must be expected: nominated to the node, of equal or higher priority. */
function expectedPods({ pod, priority }: Screening, { occupancy }: NodeEntry): readonly PlacedPod[] {
  if (occupancy.nominated.length === 0) return NOBODY;
  return occupancy.nominated.filter((placed) => placed.priority >= priority && podKey(placed.pod) !== podKey(pod));
}
