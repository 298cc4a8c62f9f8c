import type { Instant } from '#shared/domain/pod/pod.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountToRelieve, isBelow, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { type Observations, resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Measured } from './history/eviction-circuit-breaker.ts';

/** A process can allocate memory about this fast, in bytes per millisecond (3 GiB a second). */
const WORST_FILL_RATE = (3 * 1024 ** 3) / 1000;

export interface Periods {
  readonly nearMs: number;
  readonly farMs: number;
  /** When a threshold is about to be crossed. */
  readonly raceMs: number;
}

/** How fast the headroom above the thresholds shrinks. */
export interface HeadroomTrend {
  readonly at: Instant;
  /** Smallest headroom of any threshold, in bytes; infinite if none is known. */
  readonly headroom: number;
  /** Bytes per millisecond; 0 while the headroom grows. */
  readonly rate: number;
}

/** Before the first pass. */
export const NO_HEADROOM_TREND: HeadroomTrend = { at: 0, headroom: Number.POSITIVE_INFINITY, rate: 0 };

function headroom(threshold: Threshold, observations: Observations): number {
  const observed = observations.get(threshold.signal);
  if (observed === undefined || resourceOf(threshold.signal) !== 'memory') return Number.POSITIVE_INFINITY;
  return quantityNumber(observed.available) - quantityNumber(amountToRelieve(threshold, observed));
}

/** Smallest headroom of any threshold, in bytes; 0 or less if one is crossed, infinite if none is known. */
export function leastHeadroom(thresholds: readonly Threshold[], observations: Observations): number {
  return thresholds.reduce((least, threshold) => Math.min(least, headroom(threshold, observations)), Infinity);
}

/** The trend after one more pass; of two consecutive rates the faster counts, so that a crossing is not missed. */
export function advanceHeadroomTrend(previous: HeadroomTrend, headroom: number, now: Instant): HeadroomTrend {
  const lostBytes = previous.headroom - headroom;
  const rate = Number.isFinite(lostBytes) && now > previous.at ? Math.max(0, lostBytes / (now - previous.at)) : 0;
  return { at: now, headroom, rate: Math.max(rate, previous.rate / 2) };
}

/**
 * Time until the next pass: as long as the fastest allocation would need to use up the headroom, and, once the headroom
 * shrinks, no longer than until the threshold is crossed at that rate.
 */
export function pollingInterval({ headroom, rate }: HeadroomTrend, { nearMs, farMs, raceMs }: Periods): Instant {
  const usual = Math.min(farMs, Math.max(nearMs, headroom / WORST_FILL_RATE));
  if (rate === 0 || headroom <= 0) return usual;
  return Math.min(usual, Math.max(raceMs, headroom / rate));
}

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

/** How fast the node's available memory shrinks. */
export interface Trend {
  readonly at: Instant;
  readonly available: number;
  /** Bytes per millisecond; 0 while it grows. */
  readonly fillRate: number;
  /** The same over the last seconds. */
  readonly lastingRate: number;
}

/** A sudden step must not count as a lasting rate; a lasting rate must count soon. */
const NEWEST_WEIGHT = 0.5;
/** The rate over these seconds decides how long a pod may take to terminate. */
const LASTING_MS = 5000;
/** From the decision to freed pages: the request, one second of grace, the kernel. */
export const RELIEF_MS = 2000;

/** The trend after one more measurement of available memory; a missing or repeated one changes nothing. */
export function advanceTrend(previous: Trend | undefined, measured: Measured | undefined): Trend | undefined {
  if (measured === undefined) return previous;
  if (previous === undefined) return { ...measured, fillRate: 0, lastingRate: 0 };
  const elapsedMs = measured.at - previous.at;
  if (elapsedMs <= 0) return previous;
  const rate = (previous.available - measured.available) / elapsedMs;
  const lastingWeight = Math.min(1, elapsedMs / LASTING_MS);
  return {
    ...measured,
    fillRate: weighted(Math.max(0, rate), previous.fillRate, NEWEST_WEIGHT),
    // What a victim releases at once says nothing about those that stay.
    lastingRate: Math.max(0, weighted(rate, previous.lastingRate, lastingWeight)),
  };
}

function weighted(newest: number, before: number, weight: number): number {
  return weight * newest + (1 - weight) * before;
}

/**
 * Whole seconds until `floor` bytes are left at the rate of the last seconds, or at that of the pod that is asked to
 * terminate, which goes on until it ends; infinite while memory does not shrink.
 */
export function secondsUntil(trend: Trend | undefined, floor: number, victimsRate = 0): number {
  const rate = Math.max(trend?.lastingRate ?? 0, victimsRate);
  if (trend === undefined || rate <= 0) return Infinity;
  return Math.max(0, Math.floor((trend.available - floor) / rate / 1000));
}

/** Bytes that will be used before a victim's memory is free. */
export function expectedLoss(trend: Trend | undefined): number {
  return (trend?.fillRate ?? 0) * RELIEF_MS;
}

/** Time to evict two pods one after the other, from the decision to freed pages. */
const TWO_VICTIMS_MS = 2 * RELIEF_MS;
/** Memory that will be exhausted within this time counts as nearly exhausted. */
const IMMINENT_MS = 10_000;

function isGoneWithin(trend: Trend | undefined, ms: number): boolean {
  return trend !== undefined && trend.fillRate * ms > trend.available;
}

/** Whether memory will be exhausted within seconds at the latest rate. */
export function isExhaustionImminent(trend: Trend | undefined): boolean {
  return isGoneWithin(trend, IMMINENT_MS);
}

/** How many evictions, one after the other, bring relief before memory is exhausted; at least one. */
export function roundsLeft(trend: Trend | undefined): number {
  if (trend === undefined || trend.fillRate <= 0) return Infinity;
  return Math.max(1, Math.floor(trend.available / trend.fillRate / RELIEF_MS));
}

/** Whether memory will be exhausted before a second eviction could follow the first. */
export function allowsNoSecondEviction(trend: Trend | undefined): boolean {
  return isGoneWithin(trend, TWO_VICTIMS_MS);
}
