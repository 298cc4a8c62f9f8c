/** The used shares of one node's signals over time; `ratios` stand parallel to `times`. */
export interface History {
  readonly times: readonly number[];
  readonly ratios: Readonly<Record<string, readonly (number | null)[]>>;
}

export const NO_HISTORY: History = { times: [], ratios: {} };

const KEPT_MS = 3_600_000;
/** Everything this young is kept; of what is older, one point in each span. */
const RECENT_MS = 120_000;
const OLD_SPAN_MS = 20_000;
const SHORTEST_SPAN_MS = 500;
const MOST_POINTS = 420;

/** The history with one more reading: an hour of it, the last two minutes in full. Readings that come too fast are left out. */
export function withReading(
  history: History,
  at: number,
  reading: Readonly<Record<string, number | undefined>>,
): History {
  const last = history.times.at(-1);
  if (last !== undefined && at - last < SHORTEST_SPAN_MS) return history;
  const kept = keptIndexes(history.times, at);
  const names = new Set([...Object.keys(history.ratios), ...Object.keys(reading)]);
  const ratios = Array.from(names, (name) => {
    const known = history.ratios[name];
    return [name, [...kept.map((index) => known?.[index] ?? null), reading[name] ?? null]] as const;
  });
  return {
    times: [...kept.map((index) => history.times[index] ?? 0), at],
    ratios: Object.fromEntries(ratios.filter(([, values]) => values.some((value) => value !== null))),
  };
}

function keptIndexes(times: readonly number[], now: number): readonly number[] {
  let lastOld = -Infinity;
  const kept = times.flatMap((time, index) => {
    if (now - time > KEPT_MS) return [];
    if (now - time > RECENT_MS && time - lastOld < OLD_SPAN_MS) return [];
    lastOld = time;
    return [index];
  });
  return kept.slice(-(MOST_POINTS - 1));
}
