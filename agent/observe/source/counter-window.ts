/** Growth rate of a counter over a sliding window, such as PSI `total=` or CPU time. */
export interface CounterWindow {
  /** Adds the counter's value at a monotonic time; a value below the last one means a new counter and starts over. */
  readonly add: (value: number, atMs: number) => void;
  /** Growth per millisecond over at least the window; `undefined` until the window is full. */
  readonly rate: () => number | undefined;
}

/** More samples in one window would cost memory without gaining precision. */
const MAX_SAMPLES = 32;

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/**
 * A window that drops all samples after a pause of half its length, because a mean across the pause would not describe
 * the present.
 */
export function createCounterWindow(windowMs: number): CounterWindow {
  const spacingMs = windowMs / MAX_SAMPLES;
  let samples: Sample[] = [];
  let latest: Sample | undefined;

  function isNewStart(value: number, atMs: number): boolean {
    return latest === undefined || value < latest.value || atMs <= latest.atMs || atMs - latest.atMs > windowMs / 2;
  }

  function keep(sample: Sample): void {
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
