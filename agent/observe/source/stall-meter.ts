import { STILL_WINDOW_MS, type StallRatio } from '#shared/api/node-pressure-policy/policy.ts';
import { type CounterRate, createCounterWindow, createLatestRate } from '#agent/observe/source/counter-window.ts';
import { type Reading, failed, reading, type Source } from '#agent/observe/source/source.ts';
import { missingFrom, KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { scanStalls, type StallTotals } from '#agent/observe/source/parse-bytes.ts';

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
  readonly window: CounterRate;
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

/**
 * How long tasks have stalled since boot, or since the cgroup was created, in microseconds. The agent computes its
 * ratios from these counters; the kernel's averages in the same file react later and less sharply.
 */
export interface Stalls {
  /** Some of the tasks waited. */
  readonly someMicroseconds: number;
  /** All of them did; NaN where the kernel does not write that line (cpu before 5.13). */
  readonly fullMicroseconds: number;
}

/** Shared by all pressure files, like the read buffer. */
const totals: StallTotals = { some: Number.NaN, full: Number.NaN };

/** One pressure file of the node (/proc/pressure/…) or of a cgroup (….pressure); absent on kernels without PSI. */
export function stallSource(name: string, directory: string, fileName: string): Source<Stalls> {
  const file = new KernelFile(directory, fileName);

  function read(): Reading<Stalls> {
    const length = file.read();
    if (length < 0) return missingFrom(file, length);
    scanStalls(scratch, length, totals);
    if (Number.isNaN(totals.some)) return failed(`cannot use ${file.path}: no some line with a total`);
    return reading({ someMicroseconds: totals.some, fullMicroseconds: totals.full });
  }
  return { name, read, close: () => file.close() };
}
