import type { Instant } from '#shared/domain/pod/pod.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountOf, isBelow } from '#shared/domain/pressure/is-below.ts';
import { isMemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import type { Observation, Observations } from '#shared/domain/pressure/observation.ts';
import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { type RecentFigures, type Sample, steadyFillRate } from './recent-figures.ts';

/**
 * Whether a hard memory threshold that is crossed is met. A brief dip causes no eviction:
 *
 *     clear ── below ──▶ seen ── below for a second, nearly gone, or falling too fast ──▶ confirmed
 *       ▲                  │                                                                 │
 *       └── not below ─────┘                                  relieved, minimum reclaim too ─┘
 */
export interface Confirmation {
  /** When the first measurement below it was taken. */
  readonly since: Instant;
  readonly isConfirmed: boolean;
}

/** By threshold id; contains only thresholds that are crossed. */
export type Confirmations = ReadonlyMap<string, Confirmation>;

const CONFIRM_MS = 1000;
/** One second until the next measurement counts, two until a victim's memory is free, one for a candidate that is refused. */
const TOO_LATE_MS = 4000;
const MIB = 1024 * 1024;
/** A process can take this much before the next pass: at 3 GiB a second it is gone in 40 ms. */
const LAST_BYTES = 128 * MIB;
const LAST_SHARE = 0.005;

/** Whether a threshold needs confirmation: only hard ones on memory, which has short peaks. */
export function needsConfirmation(threshold: Threshold): boolean {
  return isHard(threshold) && isMemorySignal(threshold.signal);
}

/** What one pass observed. */
export interface Seen {
  readonly observations: Observations;
  readonly recent: RecentFigures;
  readonly now: Instant;
}

/** The confirmations after one more pass. */
export function advanceConfirmations(
  previous: Confirmations,
  thresholds: readonly Threshold[],
  seen: Seen,
): Confirmations {
  const next = thresholds.filter(needsConfirmation).flatMap((threshold) => {
    const before = previous.get(threshold.id);
    const after = before?.isConfirmed === true ? unlessRelieved(before, threshold, seen) : see(before, threshold, seen);
    return after === undefined ? [] : [[threshold.id, after] as const];
  });
  return new Map(next);
}

type Step = (before: Confirmation | undefined, threshold: Threshold, seen: Seen) => Confirmation | undefined;

const unlessRelieved: Step = (before, threshold, { observations }) =>
  isBelow(threshold, observations, 'withMinimumReclaim') ? before : undefined;

const see: Step = (before, threshold, { observations, recent, now }) => {
  const observed = observations.get(threshold.signal);
  if (observed === undefined || !isBelow(threshold, observations)) return undefined;
  const at = observed.at ?? now;
  const since = before?.since ?? at;
  const samples = recent.get(threshold.signal) ?? [];
  return { since, isConfirmed: at - since >= CONFIRM_MS || cannotWait(threshold, observed, samples) };
};

/** Whether the memory would be exhausted before a second measurement could help. */
function cannotWait(threshold: Threshold, observed: Observation, samples: readonly Sample[]): boolean {
  const available = quantityNumber(observed.available);
  return available <= lastBytes(threshold, observed) || available <= steadyFillRate(samples) * TOO_LATE_MS;
}

/** Nearly exhausted: half the threshold, but on a large node no more than its processes can take in a moment. */
function lastBytes({ value }: Threshold, observed: Observation): number {
  const half = quantityNumber(amountOf(value, observed)) / 2;
  return Math.min(half, Math.max(LAST_BYTES, quantityNumber(observed.capacity) * LAST_SHARE));
}
