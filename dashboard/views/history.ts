import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#shared/domain/base/durations.ts';

/** The used shares of one node's signals over time; `ratios` is parallel to `times`. */
export interface History {
  readonly times: readonly number[];
  readonly ratios: Readonly<Record<string, readonly (number | null)[]>>;
}

export const NO_HISTORY: History = { times: [], ratios: {} };

/**
 * The length of the history, and of the spans with one point each. Each span is a multiple of the previous one, so that
 * merged points can be merged again.
 */
const TIERS = [
  { until: 2 * MINUTE_MS, spanMs: SECOND_MS },
  { until: HOUR_MS, spanMs: 30 * SECOND_MS },
  { until: DAY_MS, spanMs: 15 * MINUTE_MS },
  { until: 7 * DAY_MS, spanMs: 2 * HOUR_MS },
] as const;

/**
 * The history with one more reading: a week of it, with the highest used share of every span, so that a peak of one
 * second is still visible days later. `at` is in milliseconds since 1970; a reading that is not newer is left out.
 */
export function withReading(
  history: History,
  at: number,
  reading: Readonly<Record<string, number | undefined>>,
): History {
  const last = history.times.at(-1);
  if (last !== undefined && at <= last) return history;
  const spans = spansOf(history, at);
  const names = new Set([...Object.keys(history.ratios), ...Object.keys(reading)]);
  const ratios = Array.from(names, (name) => {
    const known = history.ratios[name] ?? [];
    return [name, [...spans.map((span) => highest(known, span)), reading[name] ?? null]] as const;
  });
  return {
    times: [...spans.map((span) => timeOf(history, span)), at],
    ratios: Object.fromEntries(ratios.filter(([, values]) => values.some((value) => value !== null))),
  };
}

/** The part of a history that is newer than `time`. */
export function newerThan({ times, ratios }: History, time: number): History {
  const first = times.findIndex((each) => each > time);
  if (first <= 0) return first === 0 ? { times, ratios } : NO_HISTORY;
  const newer = Object.entries(ratios).map(([name, values]) => [name, values.slice(first)] as const);
  return { times: times.slice(first), ratios: Object.fromEntries(newer) };
}

/** The first and the last index of the points to merge. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf({ times }: History, now: number): readonly Span[] {
  const spans: Span[] = [];
  let lastKey: number | undefined;
  for (const [index, time] of times.entries()) {
    const key = spanKey(time, now - time);
    if (key === undefined) continue;
    const open = key === lastKey ? spans.pop() : undefined;
    spans.push({ from: open?.from ?? index, to: index });
    lastKey = key;
  }
  return spans;
}

/** Equal for points of the same span in the same tier. */
function spanKey(time: number, age: number): number | undefined {
  for (let index = 0; index < TIERS.length; index += 1) {
    const tier = TIERS[index];
    if (tier !== undefined && age <= tier.until) return Math.floor(time / tier.spanMs) * TIERS.length + index;
  }
  return undefined;
}

/** The point with the highest share of any signal: the one that viewers look for. */
function timeOf({ times, ratios }: History, { from, to }: Span): number {
  let [best, at] = [-1, times[from] ?? 0];
  for (let index = from; from !== to && index <= to; index += 1) {
    const ratio = Math.max(...Object.values(ratios).map((values) => values[index] ?? 0));
    if (ratio > best) [best, at] = [ratio, times[index] ?? 0];
  }
  return at;
}

function highest(values: readonly (number | null)[], { from, to }: Span): number | null {
  let most = values[from] ?? null;
  for (let index = from + 1; index <= to; index += 1) {
    const value = values[index] ?? null;
    if (value !== null && (most === null || value > most)) most = value;
  }
  return most;
}
