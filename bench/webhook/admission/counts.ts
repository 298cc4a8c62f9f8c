/** Counters by name. */
export type Counts = Readonly<Record<string, number>>;

export function countsSince(before: Counts, now: Counts): Counts {
  return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]));
}
