/** How fast a counter grows over a sliding window: PSI by difference of `total=`, CPU by difference of its time. */
export interface CounterWindow {
  /** Takes the counter's value at a monotonic time; a value below the last one is a new counter and starts over. */
  readonly add: (value: number, atMs: number) => void;
  /** Growth per millisecond over at least the window; `undefined` until a whole window was seen. */
  readonly rate: () => number | undefined;
}

/** More samples than this in one window would add memory and no sharpness. */
const MOST_SAMPLES = 32;

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/**
 * A window that forgets everything when it was not fed for half its length: after a pause the mean over it would
 * say nothing about now (F-16b).
 */
export function createCounterWindow(windowMs: number): CounterWindow {
  const spacingMs = windowMs / MOST_SAMPLES;
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
