/** How fast a counter has grown just now; for telling whether something still lasts. */
export interface LatestRate {
  /** Takes the counter's value at a monotonic time; a value below the last one is a new counter and starts over. */
  readonly add: (value: number, atMs: number) => void;
  /** Growth per millisecond since the newest sample that is old enough; `undefined` while there is none. */
  readonly rate: () => number | undefined;
}

interface Sample {
  readonly value: number;
  readonly atMs: number;
}

/** Over at least `leastMs`, and no longer than that and the time between two looks; after more silence it starts over. */
export function createLatestRate(leastMs: number, silenceMs: number): LatestRate {
  let samples: readonly Sample[] = [];

  function add(value: number, atMs: number): void {
    if (Number.isNaN(value)) return;
    const latest = samples.at(-1);
    const isNewStart = latest === undefined || value < latest.value || atMs - latest.atMs > silenceMs;
    const kept = isNewStart ? [] : samples;
    // Of those that are old enough the newest is the one to start from.
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
