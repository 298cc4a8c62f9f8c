/** Growth rate of a counter, such as PSI `total=` or CPU time. */
export interface CounterRate {
  /** Adds the counter's value at a monotonic time; a value below the last one means a new counter and starts over. */
  readonly add: (value: number, atMs: number) => void;
  /** Growth per millisecond; `undefined` until there are samples that are far enough apart. */
  readonly rate: () => number | undefined;
}

/** More samples in one window would cost memory without gaining precision. */
const MAX_SAMPLES = 32;

interface CounterSample {
  readonly value: number;
  readonly atMs: number;
}

/**
 * The mean over at least the window. Drops all samples after a pause of half the window, because a mean across the pause
 * would not describe the present.
 */
export function createCounterWindow(windowMs: number): CounterRate {
  const spacingMs = windowMs / MAX_SAMPLES;
  let samples: CounterSample[] = [];
  let latest: CounterSample | undefined;

  function isNewStart(value: number, atMs: number): boolean {
    return latest === undefined || value < latest.value || atMs <= latest.atMs || atMs - latest.atMs > windowMs / 2;
  }

  function keep(sample: CounterSample): void {
    const last = samples.at(-1);
    if (last !== undefined && sample.atMs - last.atMs < spacingMs) return;
    samples.push(sample);
    // The oldest sample must be at least one window old, but only one such is needed.
    while (samples[1] !== undefined && sample.atMs - samples[1].atMs >= windowMs) samples.shift();
  }

  function add(value: number, atMs: number): void {
    if (Number.isNaN(value)) return;
    if (isNewStart(value, atMs)) samples = [];
    latest = { value, atMs };
    keep(latest);
  }

  function rate(): number | undefined {
    const oldest = samples[0];
    if (latest === undefined || oldest === undefined || latest.atMs - oldest.atMs < windowMs) return undefined;
    return (latest.value - oldest.value) / (latest.atMs - oldest.atMs);
  }
  return { add, rate };
}

/**
 * The current rate, to see whether an activity continues. Spans at least `leastMs`, and at most that plus the time
 * between two passes; starts over after a pause of `silenceMs`.
 */
export function createLatestRate(leastMs: number, silenceMs: number): CounterRate {
  let samples: readonly CounterSample[] = [];

  function add(value: number, atMs: number): void {
    if (Number.isNaN(value)) return;
    const latest = samples.at(-1);
    const isNewStart = latest === undefined || value < latest.value || atMs - latest.atMs > silenceMs;
    const kept = isNewStart ? [] : samples;
    // Start from the newest sample that is old enough.
    const first = kept.findLastIndex((sample) => atMs - sample.atMs >= leastMs);
    samples = [...kept.slice(Math.max(0, first)), { value, atMs }];
  }

  function rate(): number | undefined {
    const [first] = samples;
    const latest = samples.at(-1);
    if (first === undefined || latest === undefined || latest.atMs - first.atMs < leastMs) return undefined;
    return (latest.value - first.value) / (latest.atMs - first.atMs);
  }
  return { add, rate };
}
