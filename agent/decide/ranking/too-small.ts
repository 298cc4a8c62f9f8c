import { leastRelief, type WantedRelief } from '#shared/domain/eviction/least-relief.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { REASONS } from '#agent/messages.ts';

/** Why a candidate of the severe stage is too small to help (`leastRelief`), `undefined` if it is not. */
export function tooSmallReason(
  ranked: readonly Candidate[],
  wanted: WantedRelief,
): (candidate: Candidate) => Because | undefined {
  const least = leastRelief(ranked, wanted);
  return ({ usage = least }) =>
    usage >= least ? undefined : REASONS.tooSmall({}, { usage, least: Math.round(least) });
}
