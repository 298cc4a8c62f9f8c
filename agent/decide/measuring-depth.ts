import type { Instant } from '#shared/domain/pod/pod.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';

/** How much is read of each pod: memory, also processes, or everything (at the slow interval). */
export type UsageDepth = 'memory' | 'processes' | 'all';

/** When pods were measured, and the state of the node. */
export interface MeasurementQuery {
  readonly now: Instant;
  readonly measuredAt: Instant;
  readonly measuredAllAt: Instant;
  /** Close to a memory threshold. */
  readonly isNear: boolean;
  /** Below a threshold of any kind. */
  readonly isShort: boolean;
  readonly areProcessesShort: boolean;
}

/** How much of the pods to read now; `undefined` if the last measurement is recent enough. */
export function depthNow(
  { now, measuredAt, measuredAllAt, isNear, isShort, areProcessesShort: isForking }: MeasurementQuery,
  { podsMs, slowMs }: { readonly podsMs: number; readonly slowMs: number },
): UsageDepth | undefined {
  if (now - measuredAllAt >= slowMs) return 'all';
  if (isForking) return 'processes';
  return isShort || (isNear && now - measuredAt >= podsMs) ? 'memory' : undefined;
}

/**
 * Whether a threshold on processes is met: the processes of each pod must then be counted again, since a fork bomb
 * takes a second.
 */
export function areProcessesShort(thresholds: readonly Threshold[], observations: Observations): boolean {
  const ofProcesses = thresholds.filter(({ signal }) => resourceOf(signal) === 'pids');
  return ofProcesses.some((threshold) => isBelow(threshold, observations, 'withMinimumReclaim'));
}
