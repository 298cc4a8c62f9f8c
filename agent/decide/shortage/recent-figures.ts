import type { Instant } from '#shared/domain/pod/pod.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Observation, Observations } from '#shared/domain/pressure/observation.ts';
import type { KubeletSignal } from '#shared/domain/pressure/signal.ts';

/** The available amount of a signal at one moment, in its own unit. */
export interface Sample {
  readonly at: Instant;
  readonly available: number;
}

/** The measurements of each signal in the last second, oldest first: enough to distinguish a peak from a shortage. */
export type RecentFigures = ReadonlyMap<KubeletSignal, readonly Sample[]>;

const WINDOW_MS = 1000;
/** Closer samples would only cost memory; the newest is always kept. */
const SPACING_MS = 60;
/** A fall that has lasted about this long counts as steady. */
const STEADY_MS = 600;
const FEWEST_FOR_A_RATE = 3;

/** The samples after one more pass; a signal that is unknown now is dropped. */
export function advanceRecent(previous: RecentFigures, observations: Observations, now: Instant): RecentFigures {
  return new Map(
    Array.from(observations, ([signal, observed]) => [signal, addSample(previous.get(signal), observed, now)] as const),
  );
}

const NO_SAMPLES: readonly Sample[] = [];

function addSample(samples = NO_SAMPLES, observed: Observation, now: Instant): readonly Sample[] {
  const sample = { at: observed.at ?? now, available: quantityNumber(observed.available) };
  const last = samples.at(-1);
  if (last !== undefined && sample.at <= last.at) return samples;
  const beforeLast = samples.at(-2);
  const isClose = last !== undefined && beforeLast !== undefined && last.at - beforeLast.at < SPACING_MS;
  const kept = samples.filter(
    ({ at }, index) => sample.at - at <= WINDOW_MS && !(isClose && index === samples.length - 1),
  );
  return [...kept, sample];
}

/** The median available amount of the last second, the smaller of two; `undefined` without a measurement. */
export function usualAvailable(samples = NO_SAMPLES): number | undefined {
  const sorted = samples.map(({ available }) => available).sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/**
 * How fast the available amount has shrunk in both halves of the last moments, per millisecond; a single step is no
 * rate.
 */
export function steadyFillRate(samples = NO_SAMPLES): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  const recent = samples.filter(({ at }) => newest.at - at <= STEADY_MS);
  const [oldest] = recent;
  const middle = recent[Math.floor(recent.length / 2)];
  if (recent.length < FEWEST_FOR_A_RATE || oldest === undefined || middle === undefined) return 0;
  return Math.max(0, Math.min(rateBetween(oldest, middle), rateBetween(middle, newest)));
}

function rateBetween(earlier: Sample, later: Sample): number {
  return (earlier.available - later.available) / (later.at - earlier.at);
}
