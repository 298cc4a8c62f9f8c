import type { Trend } from './agent-state.ts';
import type { Measured } from './eviction-circuit-breaker.ts';

/** A sudden step must not count as a lasting rate; a lasting one must count soon. */
const NEWEST_WEIGHT = 0.5;
/** From the decision to freed pages: the request, the pod's second of grace, the kernel. */
const RELIEF_MS = 2000;

/** The trend after one more measurement of free memory; unknown or no newer ones leave it as it was. */
export function advanceTrend(previous: Trend | undefined, measured: Measured | undefined): Trend | undefined {
  if (measured === undefined) return previous;
  if (previous === undefined) return { ...measured, fillRate: 0 };
  const elapsedMs = measured.at - previous.at;
  if (elapsedMs <= 0) return previous;
  const rate = Math.max(0, (previous.available - measured.available) / elapsedMs);
  return { ...measured, fillRate: NEWEST_WEIGHT * rate + (1 - NEWEST_WEIGHT) * previous.fillRate };
}

/** Bytes that will be gone before a victim's memory is back. */
export function expectedLoss(trend: Trend | undefined): number {
  return (trend?.fillRate ?? 0) * RELIEF_MS;
}

/** What is left and will be gone within this time is raced for. */
const RACE_MS = 10_000;

/** Whether all memory will be gone within seconds at the rate that was seen last. */
export function isRacing(trend: Trend | undefined): boolean {
  return trend !== undefined && trend.fillRate * RACE_MS > trend.available;
}
