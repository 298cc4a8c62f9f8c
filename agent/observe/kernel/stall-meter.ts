import { STILL_WINDOW_MS, type StallRatio } from '#shared/api/node-pressure-policy/stall-rule.ts';
import { createCounterWindow } from '#agent/observe/source/counter-window.ts';
import { createLatestRate } from '#agent/observe/source/latest-rate.ts';
import type { Reading } from '#agent/observe/source/reading.ts';
import type { Stalls } from './stall.ts';

/** The windows that rules can use and metrics show, in milliseconds. */
export const STALL_WINDOWS_MS = [10_000, 60_000, 300_000] as const;

const SHARES = ['some', 'full'] as const;
const TOTALS = { some: 'someMicroseconds', full: 'fullMicroseconds' } as const;
const MICROSECONDS_PER_MILLISECOND = 1000;
/** Longer than the longest time between two passes. */
const SILENCE_MS = 3000;

interface Meter {
  readonly share: (typeof SHARES)[number];
  readonly windowMs: number;
  readonly window: {
    readonly add: (value: number, atMs: number) => void;
    readonly rate: () => number | undefined;
  };
}

/** PSI of one resource as shares of time, computed from the kernel's counters, which react sooner than its averages. */
export interface StallMeter {
  readonly note: (answer: Reading<Stalls>, atMs: number) => void;
  /** Ratios from 0 to 1 of all full windows; the shortest shows whether tasks still stall. */
  readonly ratios: () => readonly StallRatio[];
}

/** Ignores readings that are absent or failed, so that their windows expire. */
export function createStallMeter(signal: StallRatio['signal']): StallMeter {
  const meters = SHARES.flatMap(metersOf);

  function note(answer: Reading<Stalls>, atMs: number): void {
    if (answer.kind !== 'reading') return;
    for (const { share, window } of meters) window.add(answer.value[TOTALS[share]], atMs);
  }

  function ratioOf({ share, windowMs, window }: Meter): readonly StallRatio[] {
    const rate = window.rate();
    return rate === undefined
      ? []
      : [{ signal, share, windowMs, ratio: Math.min(1, rate / MICROSECONDS_PER_MILLISECOND) }];
  }
  return { note, ratios: () => meters.flatMap(ratioOf) };
}

function metersOf(share: Meter['share']): readonly Meter[] {
  const latest = { share, windowMs: STILL_WINDOW_MS, window: createLatestRate(STILL_WINDOW_MS, SILENCE_MS) };
  return [latest, ...STALL_WINDOWS_MS.map((windowMs) => ({ share, windowMs, window: createCounterWindow(windowMs) }))];
}
