/** Monotonic times in milliseconds. */
export interface EpochTimes {
  readonly now: number;
  readonly begunAt: number;
  /** How long its lists took; `undefined` during the first ones. */
  readonly listMs: number | undefined;
  /** Since when a proof is awaited. */
  readonly awaitedSince: number | undefined;
}

/** A relist every 30 to 60 minutes repairs what a watch cannot show. */
const SHORTEST_INTERVAL_MS = 1_800_000;
const INTERVAL_SPREAD_MS = 1_800_000;
/** A proof arrives with the next event or bookmark if the server sends any, otherwise with a list. */
const SHORTEST_WAIT_MS = 10_000;
/** Lists take at most 1/300 of the time, or 1/50 while a proof is awaited. */
const INTERVALS_PER_LIST = 300;
const WAITS_PER_LIST = 50;

/** Whether everything should be listed again although the watch works; `spread` is in [0, 1). */
export function isRelistDue({ now, begunAt, listMs, awaitedSince }: EpochTimes, spread: number): boolean {
  if (listMs === undefined) return false;
  const intervalMs = SHORTEST_INTERVAL_MS + spread * INTERVAL_SPREAD_MS;
  if (now - begunAt >= Math.max(intervalMs, INTERVALS_PER_LIST * listMs)) return true;
  if (awaitedSince === undefined) return false;
  const waitedMs = now - Math.max(awaitedSince, begunAt);
  return waitedMs >= Math.max(SHORTEST_WAIT_MS, WAITS_PER_LIST * listMs);
}
