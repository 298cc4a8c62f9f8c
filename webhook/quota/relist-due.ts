/** Monotonic times in milliseconds. */
export interface EpochTimes {
  readonly now: number;
  readonly begunAt: number;
  /** How long its lists took; `undefined` while they are under way for the first time. */
  readonly listMs: number | undefined;
  /** Since when a proof is waited for. */
  readonly awaitedSince: number | undefined;
}

/** A fresh list now and then heals what no watch can show: every 30 to 60 minutes. */
const SHORTEST_INTERVAL_MS = 1_800_000;
const INTERVAL_SPREAD_MS = 1_800_000;
/** A proof comes with the next event or bookmark, if the server sends any; else lists bring it. */
const SHORTEST_WAIT_MS = 10_000;
/** Lists shall take a three-hundredth of the time, and where a proof is waited for no more than a fiftieth. */
const INTERVALS_PER_LIST = 300;
const WAITS_PER_LIST = 50;

/** Whether everything should be listed again though the watch goes on; `spread` is in [0, 1). */
export function isRelistDue({ now, begunAt, listMs, awaitedSince }: EpochTimes, spread: number): boolean {
  if (listMs === undefined) return false;
  const intervalMs = SHORTEST_INTERVAL_MS + spread * INTERVAL_SPREAD_MS;
  if (now - begunAt >= Math.max(intervalMs, INTERVALS_PER_LIST * listMs)) return true;
  if (awaitedSince === undefined) return false;
  const waitedMs = now - Math.max(awaitedSince, begunAt);
  return waitedMs >= Math.max(SHORTEST_WAIT_MS, WAITS_PER_LIST * listMs);
}
