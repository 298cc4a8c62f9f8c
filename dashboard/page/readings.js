/** The readings of a node's signals: the history that the server sends first, and the readings since then. */

/** The server sends the whole history again every few minutes, so no more readings than this arrive in between. */
const MAX_POINTS = 1_500;

export function createReadings() {
  let [times, ratios] = [[], {}];
  return {
    clear: () => ([times, ratios] = [[], {}]),
    /** New readings create new arrays, so that views can detect the change. */
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
    /** Whether there are enough points for a line. */
    has: (signal) => (ratios[signal] ?? []).filter((value) => value !== null).length > 1,
  };
}
