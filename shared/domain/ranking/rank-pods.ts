import type { Candidate } from './candidate.ts';
import type { RankingOrder } from './ranking-order.ts';
import { sortRows } from './sort-rows.ts';

/**
 * Candidates in the order of eviction, first to go first. Each key is asked once per pod, then plain numbers are
 * compared. What no key tells apart keeps the order given; an order that ends in `uid` leaves nothing to that.
 */
export function rankPods(candidates: readonly Candidate[], order: RankingOrder): readonly Candidate[] {
  const places = new Float64Array(candidates.length * order.length);
  let at = 0;
  for (const candidate of candidates) {
    for (const key of order) places[at++] = key.placeOf(candidate);
  }
  const refinements = order.map((key) => key.refine);
  return sortRows({ rows: candidates, places, refinements });
}

/** Negative if `left` goes first, positive if `right` does, 0 if no key tells them apart. */
export function compareCandidates(left: Candidate, right: Candidate, order: RankingOrder): number {
  for (const key of order) {
    const byKey = compareByKey(left, right, key);
    if (byKey !== 0) return byKey;
  }
  return 0;
}

/** The same for one key. */
export function compareByKey(left: Candidate, right: Candidate, key: RankingOrder[number]): number {
  const leftPlace = key.placeOf(left);
  const rightPlace = key.placeOf(right);
  if (leftPlace !== rightPlace) return leftPlace < rightPlace ? -1 : 1;
  return key.refine?.(left, right) ?? 0;
}
