import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { Ineligibility } from './ineligibility.ts';
import { REASONS } from '#agent/messages.ts';

/** Requirements for the last victims before the node is exhausted. */
export interface LastChance {
  readonly reasonAgainst: Ineligibility;
  /** Largest number of victims. */
  readonly most: number;
  /** What must be freed. */
  readonly gap: number;
}

/**
 * Why a candidate is too small to be evicted now, when another one above its request frees more of the gap: the node
 * will be exhausted before a second eviction could follow, so a small first victim would be evicted in vain.
 */
export function tooSmallReason(
  ranked: readonly Candidate[],
  { reasonAgainst, most, gap }: LastChance,
): (candidate: Candidate) => Because | undefined {
  const eligible = ranked.filter((each) => each.exceedsRequest && reasonAgainst(each) === undefined);
  const largest = eligible.reduce((found, { usage = 0 }) => Math.max(found, usage), 0);
  const least = Math.min(gap / most, largest);
  return ({ usage = 0 }) => (usage >= least ? undefined : tooSmall(usage, least));
}

function tooSmall(usage: number, least: number): Because {
  return REASONS.tooSmall({}, { usage, least: Math.round(least) });
}
