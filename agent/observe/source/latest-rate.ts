/** Growth rate of a counter right now, to see whether something is still going on. */
export interface LatestRate {
  /** Adds the counter's value at a monotonic time; a value below the last one means a new counter and starts over. */
  readonly add: (value: number, atMs: number) => void;
  /** Growth per millisecond since the newest sample that is old enough; `undefined` if there is none. */
  readonly rate: () => number | undefined;
}

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/**
 * Spans at least `leastMs`, and at most that plus the time between two passes; starts over after a pause of
 * `silenceMs`.
 */
export function createLatestRate(leastMs: number, silenceMs: number): LatestRate {
  let samples: readonly Sample[] = [];

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
