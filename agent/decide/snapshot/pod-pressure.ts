export type StalledResource = 'memory' | 'cpu' | 'io';

/**
 * The pressure of one pod over the last slow interval. It is reported, and it distinguishes a pod at its own limit from
 * a node that is short. It never ranks pods, because the pod that took the memory does not stall. Values that were not
 * measured are `undefined`.
 */
export interface PodPressure {
  /** Share of time in which some of its tasks stalled, from 0 to 1. */
  readonly waiting: ResourceShares;
  /** Share of time in which all of its tasks stalled. */
  readonly stalled: ResourceShares;
  /** How often its memory hit its own limit (`memory.max` or `memory.high`) since it was created, and recently. */
  readonly limitHits?: number | undefined;
  readonly limitHitsPerSecond?: number | undefined;
  /** Processes that the kernel killed in it since it was created; cgroup v1 counts them per container only. */
  readonly oomKills?: number | undefined;
  /** Share of time in which it was throttled by its own CPU limit. */
  readonly throttled?: number | undefined;
}

/** Shares of time by resource, from 0 to 1. */
export type ResourceShares = Readonly<Partial<Record<StalledResource, number | undefined>>>;

/** Pressure by pod UID. */
export type PodPressureByUid = ReadonlyMap<string, PodPressure>;

export const NO_POD_PRESSURES: PodPressureByUid = new Map();

/** Throttling for a smaller share of the time is normal below a limit. */
const LEAST_THROTTLED = 0.1;

/** Whether its memory has recently hit its own limit. */
export function isAtMemoryLimit({ limitHitsPerSecond }: PodPressure): boolean {
  return limitHitsPerSecond !== undefined && limitHitsPerSecond > 0;
}

/** Whether its own CPU limit throttles it. */
export function isAtCpuLimit({ throttled }: PodPressure): boolean {
  return throttled !== undefined && throttled >= LEAST_THROTTLED;
}
