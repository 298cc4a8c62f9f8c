import type { Candidate } from './candidate.ts';
import { compareByKey, comparePlaces, rankColumns } from './rank-columns.ts';
import type { RankingKey } from './ranking-key.ts';
import type { RankingOrder } from './ranking-order.ts';

/**
 * Candidates in the order of eviction, first to go first. Each key is asked once per pod, then plain numbers are
 * compared. Candidates that no key distinguishes keep the order given; an order that ends in `uid` leaves nothing to that.
 */
export function rankPods(candidates: readonly Candidate[], order: RankingOrder): readonly Candidate[] {
  const { first, second, rest } = rankColumns(order);
  const rows = candidates.map((candidate) => ({ candidate, first: first(candidate), second: second(candidate) }));
  rows.sort(
    (left, right) =>
      comparePlaces(left.first, right.first) ||
      comparePlaces(left.second, right.second) ||
      rest(left.candidate, right.candidate),
  );
  return rows.map(({ candidate }) => candidate);
}

/** The first key that distinguishes two candidates. */
export function decidingKey(left: Candidate, right: Candidate, order: RankingOrder): RankingKey | undefined {
  return order.find((key) => compareByKey(left, right, key) !== 0);
}
