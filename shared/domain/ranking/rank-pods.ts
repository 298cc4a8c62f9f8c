import type { Candidate } from './candidate.ts';
import { compareByColumn, rankColumns } from './rank-columns.ts';
import type { RankingKey } from './ranking-key.ts';
import type { RankingOrder } from './ranking-order.ts';
import { sortRows } from './sort-rows.ts';

/**
 * Candidates in the order of eviction, first to go first. Each key is asked once per pod, then plain numbers are
 * compared. Candidates that no key distinguishes keep the order given; an order that ends in `uid` leaves nothing to that.
 */
export function rankPods(candidates: readonly Candidate[], order: RankingOrder): readonly Candidate[] {
  const columns = rankColumns(order);
  const places = new Float64Array(candidates.length * columns.length);
  let at = 0;
  for (const candidate of candidates) {
    for (const column of columns) places[at++] = column.placeOf(candidate);
  }
  return sortRows({ rows: candidates, places, refinements: columns.map(({ refine }) => refine) });
}

/** Negative if `left` goes first, positive if `right` does, 0 if no key distinguishes them. */
export function compareCandidates(left: Candidate, right: Candidate, order: RankingOrder): number {
  const key = decidingKey(left, right, order);
  return key === undefined ? 0 : compareByColumn(left, right, key);
}

/** The first key that distinguishes two candidates. */
export function decidingKey(left: Candidate, right: Candidate, order: RankingOrder): RankingKey | undefined {
  return order.find((key) => compareByColumn(left, right, key) !== 0);
}
