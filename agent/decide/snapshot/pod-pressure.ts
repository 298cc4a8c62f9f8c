export type StalledResource = 'memory' | 'cpu' | 'io';

/**
 * What holds one pod up, over the last slow beat. It is reported and tells a pod at its own limit from a node that is
 * short; it never decides who goes, because the pod that took the memory waits for nothing (real-kubernetes.md 8.3).
 * Whatever was not measured is `undefined`.
 */
export interface PodPressure {
  /** Share of time in which some of its tasks waited, from 0 to 1. */
  readonly waiting: ResourceShares;
  /** Share of time in which all of them did. */
  readonly stalled: ResourceShares;
  /** How often its memory hit its own limit since it was made, and lately. */
  readonly limitHits?: number | undefined;
  readonly limitHitsPerSecond?: number | undefined;
  /** Processes that the kernel killed in it since it was made; cgroup v1 counts them in their containers alone. */
  readonly oomKills?: number | undefined;
  /** Share of time in which its own CPU limit held it back. */
  readonly throttled?: number | undefined;
}

/** Shares of time by resource, from 0 to 1. */
export type ResourceShares = Readonly<Partial<Record<StalledResource, number | undefined>>>;

/** Strains by pod UID. */
export type PodPressureByUid = ReadonlyMap<string, PodPressure>;

export const NO_POD_PRESSURES: PodPressureByUid = new Map();

/** Being held back for less than this share of the time is how limits work, not being at one. */
const LEAST_THROTTLED = 0.1;

/** Whether its memory has hit its own limit lately. */
export function isAtMemoryLimit({ limitHitsPerSecond }: PodPressure): boolean {
  return limitHitsPerSecond !== undefined && limitHitsPerSecond > 0;
}

/** Whether its own CPU limit holds it back. */
export function isAtCpuLimit({ throttled }: PodPressure): boolean {
  return throttled !== undefined && throttled >= LEAST_THROTTLED;
}
