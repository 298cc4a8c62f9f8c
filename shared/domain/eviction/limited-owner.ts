import type { Candidate } from '#shared/domain/ranking/candidate.ts';

/**
 * Whether a candidate must not be evicted in place of pods whose owners are at their limits: then the largest overage of
 * those. An owner must not become immune at the cost of others, so only a pod that exceeds its own request by more goes.
 */
export function overageOfLimited(candidate: Candidate, limited: readonly Candidate[]): number | undefined {
  if (limited.length === 0) return undefined;
  const largest = Math.max(...limited.map(({ roundedOverage }) => roundedOverage));
  return candidate.exceedsRequest && candidate.roundedOverage > largest ? undefined : largest;
}
