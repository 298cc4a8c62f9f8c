import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import { isHard } from '#shared/domain/pressure/threshold.ts';

/** A hard threshold leaves a pod this long (`immediateEvictionGracePeriodSeconds`). */
export const HARD_GRACE_SECONDS = 1;

/** Seconds that a pod gets to stop: for a soft threshold its own grace period, up to the largest that is configured. */
export function gracePeriodSeconds(threshold: Threshold, pod: Pod, mostSeconds: number): number {
  if (isHard(threshold)) return HARD_GRACE_SECONDS;
  return Math.min(mostSeconds, pod.spec.terminationGracePeriodSeconds ?? mostSeconds);
}
