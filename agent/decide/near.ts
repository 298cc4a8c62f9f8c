import type { Instant } from '#shared/domain/model/pod.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import { amountToRelieve } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';

/** A process may touch new memory about this fast, in bytes per millisecond (3 GiB a second). */
const WORST_FILL_RATE = (3 * 1024 ** 3) / 1000;

export interface Periods {
  readonly nearMs: number;
  readonly farMs: number;
}

function headroom(threshold: Threshold, observations: Observations): number {
  const observed = observations.get(threshold.signal);
  if (observed === undefined || resourceOf(threshold.signal) !== 'memory') return Number.POSITIVE_INFINITY;
  return quantityNumber(observed.available) - quantityNumber(amountToRelieve(threshold, observed));
}

/** Least memory left above any threshold, in bytes; 0 or less when one is crossed, infinite when none is known. */
export function leastHeadroom(thresholds: readonly Threshold[], observations: Observations): number {
  return thresholds.reduce((least, threshold) => Math.min(least, headroom(threshold, observations)), Infinity);
}

/** How long to wait until the next look: as long as the worst hog would need to use up the room that is left. */
export function periodFor(headroomBytes: number, { nearMs, farMs }: Periods): Instant {
  return Math.min(farMs, Math.max(nearMs, headroomBytes / WORST_FILL_RATE));
}
