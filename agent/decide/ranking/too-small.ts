import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { Ineligibility } from './ineligibility.ts';

/** What the last victims before the node is exhausted have to bring. */
export interface LastChance {
  readonly reasonAgainst: Ineligibility;
  /** No more victims than this. */
  readonly most: number;
  /** What must come free. */
  readonly gap: number;
}

/**
 * Why a candidate is too small to be taken now, while another one above its request closes the gap, or at least more of
 * it: the node will be exhausted before a second victim could follow, so a first one that brings little goes for nothing.
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
  const facts = { usage, least: Math.round(least) };
  return { code: 'TooSmall', text: 'the pod uses too little to help before the node is exhausted', facts };
}
