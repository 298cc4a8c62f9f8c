import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Measured } from '#agent/decide/eviction/eviction-circuit-breaker.ts';

/** How fast the node's available memory shrinks. */
export interface Trend {
  readonly at: Instant;
  readonly available: number;
  /** Bytes per millisecond; 0 while it grows. */
  readonly fillRate: number;
  /** The same over the last seconds; negative while it grows. */
  readonly lastingRate: number;
}

/** A sudden step must not count as a lasting rate; a lasting rate must count soon. */
const NEWEST_WEIGHT = 0.5;
/** The rate over these seconds decides how long a pod may take to terminate. */
const LASTING_MS = 5000;
/** From the decision to freed pages: the request, one second of grace, the kernel. */
const RELIEF_MS = 2000;

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
    lastingRate: weighted(rate, previous.lastingRate, lastingWeight),
  };
}

function weighted(newest: number, before: number, weight: number): number {
  return weight * newest + (1 - weight) * before;
}

/**
 * Whole seconds until `floor` bytes are left at the rate of the last seconds; infinite while memory does not shrink.
 */
export function secondsUntil(trend: Trend | undefined, floor: number): number {
  if (trend === undefined || trend.lastingRate <= 0) return Infinity;
  return Math.max(0, Math.floor((trend.available - floor) / trend.lastingRate / 1000));
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
