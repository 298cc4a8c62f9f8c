/** What a node's signals were: the history that the server sends, and what came since. */

/** The server sends the history anew every few minutes, so that no more than this comes in between. */
const MOST_POINTS = 1_500;

export function createReadings() {
  let [times, ratios] = [[], {}];
  return {
    take(history) {
      times = history.times;
      ratios = history.ratios;
    },
    /** A new reading makes new arrays, so that what shows them sees that they changed. */
    append(node) {
      if (node.observedAt === undefined || node.observedAt <= (times.at(-1) ?? 0)) return;
      const before = times.map(() => null);
      const now = Object.fromEntries(node.readings.map(({ name, usedRatio }) => [name, usedRatio ?? null]));
      const names = [...new Set([...Object.keys(ratios), ...Object.keys(now)])];
      const next = (name) => [...(ratios[name] ?? before), now[name] ?? null].slice(-MOST_POINTS);
      ratios = Object.fromEntries(names.map((name) => [name, next(name)]));
      times = [...times, node.observedAt].slice(-MOST_POINTS);
    },
    times: () => times,
    values: (signal) => ratios[signal] ?? [],
    /** Whether there is a line to draw. */
    has: (signal) => (ratios[signal] ?? []).filter((value) => value !== null).length > 1,
  };
}
