import type { Because } from '#shared/domain/model/because.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { isOwnReason } from './safe-within-request.ts';

/** What the victims of the severe stage have to bring. */
export interface WantedRelief {
  readonly reasonAgainst: (candidate: Candidate) => Because | undefined;
  /** Evictions that are possible before the resource is exhausted, at least one; infinite while it does not shrink. */
  readonly inTime: number;
  /** What must be freed. */
  readonly gap: number;
  /** Of the policy: a share of the gap, or an amount. */
  readonly minimum: ThresholdValue | undefined;
}

const USUAL_SHARE = 0.05;
const USUAL_BYTES = 64 * 1024 * 1024;

/**
 * What a victim of the severe stage has to free at least. A pod is too small if it frees less than a worthwhile part of the
 * gap while a pod above its request frees more: evicting one small pod after another uses up windows and time. It is too
 * small, too, if too little time is left to close the gap with pods of its size while a larger one may be evicted. A pod
 * that closes the gap alone never is. A larger pod that is held keeps only the smallest ones.
 */
export function leastRelief(
  ranked: readonly Candidate[],
  { reasonAgainst, inTime, gap, minimum }: WantedRelief,
): number {
  const above = ranked.filter(({ exceedsRequest }) => exceedsRequest);
  const judged = above.map((each) => ({ usage: each.usage ?? 0, because: reasonAgainst(each) }));
  const evictable = largestOf(judged.filter(({ because }) => because === undefined));
  const known = largestOf(judged.filter(({ because }) => because === undefined || isOwnReason(because)));
  const [part, smallPart] = worthwhileParts(gap, minimum);
  const worthwhile = [part, smallPart].find((each) => each <= evictable) ?? 0;
  return Math.max(Math.min(gap / inTime, evictable), worthwhile, smallPart <= known ? smallPart : 0);
}

function largestOf(pods: readonly { readonly usage: number }[]): number {
  return pods.reduce((largest, { usage }) => Math.max(largest, usage), 0);
}

/**
 * What is worthwhile, and what is where no pod is large enough for that. Of 5 % of the gap and 64Mi the larger one: with
 * the smaller one, every pod would be worthwhile for a small gap.
 */
function worthwhileParts(gap: number, minimum: ThresholdValue | undefined): readonly [number, number] {
  const usual = gap * USUAL_SHARE;
  if (minimum === undefined) return [Math.min(gap, Math.max(usual, USUAL_BYTES)), usual];
  const part = minimum.kind === 'share' ? gap * minimum.share : quantityNumber(minimum.amount);
  return [Math.min(gap, part), Math.min(usual, part)];
}
