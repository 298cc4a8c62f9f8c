/** The readings of a node's signals: the history that the server sends first, and the readings since then. */

import { type History, NO_HISTORY } from '#dashboard/views/history.ts';

/** The server sends the whole history again every few minutes, so no more readings than this arrive in between. */
const MAX_POINTS = 1_500;

export interface Readings {
  readonly clear: () => void;
  readonly append: (newer: History) => void;
  readonly times: () => readonly number[];
  readonly values: (signal: string) => readonly (number | null)[];
  /** Whether there are enough points for a line. */
  readonly has: (signal: string) => boolean;
}

export function createReadings(): Readings {
  let { times, ratios } = NO_HISTORY;
  return {
    clear: () => ({ times, ratios } = NO_HISTORY),
    /** New readings create new arrays, so that views can detect the change. */
    append(newer) {
      if (newer.times.length === 0) return;
      const gap = (of: readonly number[]): readonly null[] => of.map(() => null);
      const names = [...new Set([...Object.keys(ratios), ...Object.keys(newer.ratios)])];
      const joined = (name: string) => [...(ratios[name] ?? gap(times)), ...(newer.ratios[name] ?? gap(newer.times))];
      ratios = Object.fromEntries(names.map((name) => [name, joined(name).slice(-MAX_POINTS)]));
      times = [...times, ...newer.times].slice(-MAX_POINTS);
    },
    times: () => times,
    values: (signal) => ratios[signal] ?? [],
    has: (signal) => (ratios[signal] ?? []).filter((value) => value !== null).length > 1,
  };
}
