import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { compareByKey, decidingKey } from '#shared/domain/ranking/rank-pods.ts';
import type { RankingOrder } from '#shared/domain/ranking/ranking-order.ts';

/** Negative if `left` goes first, positive if `right` does, 0 if no key distinguishes them. */
export function compareCandidates(left: Candidate, right: Candidate, order: RankingOrder): number {
  const key = decidingKey(left, right, order);
  return key === undefined ? 0 : compareByKey(left, right, key);
}
