/** Lowest and highest value of the recent past: the values that an answer some seconds old may correctly have. */
export interface RecentRange {
  readonly note: (value: number, atMs: number) => void;
  readonly range: (nowMs: number) => { readonly low: number; readonly high: number } | undefined;
}

/** More samples in one window would only cost memory. */
const MOST_SAMPLES = 64;

interface Sample {
  readonly low: number;
  readonly high: number;
  readonly atMs: number;
}

/** Samples closer together than the window divided by 64 are merged. */
export function createRecentRange(windowMs: number): RecentRange {
  const spacingMs = windowMs / MOST_SAMPLES;
  let samples: Sample[] = [];

  function note(value: number, atMs: number): void {
    const last = samples.at(-1);
    if (last !== undefined && atMs - last.atMs < spacingMs) {
      const merged = { low: Math.min(last.low, value), high: Math.max(last.high, value), atMs: last.atMs };
      samples = [...samples.slice(0, -1), merged];
    } else samples = [...samples.filter((sample) => atMs - sample.atMs <= windowMs), { low: value, high: value, atMs }];
  }

  function range(nowMs: number): { low: number; high: number } | undefined {
    const recent = samples.filter(({ atMs }) => nowMs - atMs <= windowMs);
    if (recent.length === 0) return undefined;
    return { low: Math.min(...recent.map(({ low }) => low)), high: Math.max(...recent.map(({ high }) => high)) };
  }
  return { note, range };
}
