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
  /** Before a crossing that is in sight. */
  readonly raceMs: number;
}

/** How the room above the thresholds has been shrinking. */
export interface HeadroomTrend {
  readonly at: Instant;
  /** Least memory left above any threshold, in bytes; infinite when none is known. */
  readonly headroom: number;
  /** Bytes per millisecond; 0 while the room grows. */
  readonly rate: number;
}

/** Before the first look. */
export const NO_HEADROOM_TREND: HeadroomTrend = { at: 0, headroom: Number.POSITIVE_INFINITY, rate: 0 };

function headroom(threshold: Threshold, observations: Observations): number {
  const observed = observations.get(threshold.signal);
  if (observed === undefined || resourceOf(threshold.signal) !== 'memory') return Number.POSITIVE_INFINITY;
  return quantityNumber(observed.available) - quantityNumber(amountToRelieve(threshold, observed));
}

/** Least memory left above any threshold, in bytes; 0 or less when one is crossed, infinite when none is known. */
export function leastHeadroom(thresholds: readonly Threshold[], observations: Observations): number {
  return thresholds.reduce((least, threshold) => Math.min(least, headroom(threshold, observations)), Infinity);
}

/** The approach after one more look; of two rates in a row the faster counts, so that a crossing is not met too late. */
export function advanceHeadroomTrend(previous: HeadroomTrend, headroom: number, now: Instant): HeadroomTrend {
  const lostBytes = previous.headroom - headroom;
  const rate = Number.isFinite(lostBytes) && now > previous.at ? Math.max(0, lostBytes / (now - previous.at)) : 0;
  return { at: now, headroom, rate: Math.max(rate, previous.rate / 2) };
}

/**
 * How long to wait until the next look: as long as the worst hog would need to use up the room that is left, and once
 * the room is seen to shrink, no longer than until the threshold is crossed at that rate.
 */
export function pollingInterval({ headroom, rate }: HeadroomTrend, { nearMs, farMs, raceMs }: Periods): Instant {
  const usual = Math.min(farMs, Math.max(nearMs, headroom / WORST_FILL_RATE));
  if (rate === 0 || headroom <= 0) return usual;
  return Math.min(usual, Math.max(raceMs, headroom / rate));
}
