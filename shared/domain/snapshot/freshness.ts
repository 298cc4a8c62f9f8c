import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

const SECOND = 1000;

/** How old a report of a node's agent may be, in milliseconds (docs/decisions/0016-status-writes.md). */
export const LONGEST_AGE_MS = {
  /** While a threshold is met the agent reports every 20 s. */
  underPressure: 60 * SECOND,
  /** Otherwise every two minutes. */
  otherwise: 180 * SECOND,
} as const;

/** Whether a report still describes its node at `now`; if not, the node's state is unknown. */
export function isFreshReport(
  observedAt: Instant | undefined,
  now: Instant,
  longestAgeMs: number = LONGEST_AGE_MS.underPressure,
): boolean {
  if (observedAt === undefined) return false;
  const ageMs = now - observedAt;
  return ageMs >= -MOST_SKEW_MS && ageMs <= longestAgeMs;
}
