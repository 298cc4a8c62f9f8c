/** What a node's signals were: the history that the server sends at first, and what came since. */

/** The server sends the history anew every few minutes, so that no more than this comes in between. */
const MAX_POINTS = 1_500;

export function createReadings() {
  let [times, ratios] = [[], {}];
  return {
    clear: () => ([times, ratios] = [[], {}]),
    /** New readings make new arrays, so that what shows them sees that they changed. */
    append(newer) {
      if (newer.times.length === 0) return;
      const gap = (of) => of.map(() => null);
      const names = [...new Set([...Object.keys(ratios), ...Object.keys(newer.ratios)])];
      const joined = (name) => [...(ratios[name] ?? gap(times)), ...(newer.ratios[name] ?? gap(newer.times))];
      ratios = Object.fromEntries(names.map((name) => [name, joined(name).slice(-MAX_POINTS)]));
      times = [...times, ...newer.times].slice(-MAX_POINTS);
    },
    times: () => times,
    values: (signal) => ratios[signal] ?? [],
    /** Whether there is a line to draw. */
    has: (signal) => (ratios[signal] ?? []).filter((value) => value !== null).length > 1,
  };
}
