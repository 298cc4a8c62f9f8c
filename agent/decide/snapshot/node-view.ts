import type { MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { NodeReadings } from '#shared/domain/pressure/observation.ts';
import type { StallRatio } from '#shared/api/node-pressure-policy/stall-rule.ts';

/** The node as observed in one pass; times are monotonic milliseconds. */
export interface NodeView {
  /** Memory as the kubelet computes it. */
  readonly readings: NodeReadings;
  /** Memory that processes can still allocate; empty if the source does not report it. */
  readonly reclaimable: MemoryReadings;
  readonly stalls: readonly StallRatio[];
  readonly cpu: CpuRoom | undefined;
  readonly reclaim: ReclaimRates;
  /** Since boot; grows when the kernel's OOM killer was faster. */
  readonly oomKills: number | undefined;
}

/** CPU idle over the last minute and the capacity, in cores. */
export interface CpuRoom {
  readonly availableCores: number;
  readonly cores: number;
}

/**
 * The kernel's reclaim activity in bytes per second over the last ten seconds; `undefined` if the kernel does not count
 * it.
 */
export interface ReclaimRates {
  /** Scanned because the node is short of memory; reclaim of a cgroup at its own limit does not count. */
  readonly scanned: number | undefined;
  /** Reclaimed of the scanned bytes. */
  readonly stolen: number | undefined;
  /** Read in again soon after they were evicted; cgroups at their own limit count as well. */
  readonly refaulted: number | undefined;
  readonly swappedIn: number | undefined;
}

export const NO_RECLAIM_RATES: ReclaimRates = {
  scanned: undefined,
  stolen: undefined,
  refaulted: undefined,
  swappedIn: undefined,
};
