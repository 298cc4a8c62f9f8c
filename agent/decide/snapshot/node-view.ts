import type { MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { NodeReadings } from '#shared/domain/pressure/observation.ts';
import type { StallRatio } from '#agent/policy/stall-rule.ts';

/** The node as one look sees it; times are monotonic milliseconds. */
export interface NodeView {
  /** Memory as the kubelet computes it. */
  readonly readings: NodeReadings;
  /** Memory that processes can still have; nothing where the source does not tell. */
  readonly reclaimable: MemoryReadings;
  readonly stalls: readonly StallRatio[];
  readonly cpu: CpuRoom | undefined;
  readonly reclaim: ReclaimRates;
  /** Since boot; grows when the kernel's OOM killer was faster. */
  readonly oomKills: number | undefined;
}

/** CPU left idle over the last minute, and all there is, in cores. */
export interface CpuRoom {
  readonly availableCores: number;
  readonly cores: number;
}

/** What the kernel does to find memory, in bytes per second over the last ten; `undefined` where it does not count that. */
export interface ReclaimRates {
  /** Looked at for something to give up, for want of memory on the node: a group at its own limit does not count. */
  readonly scanned: number | undefined;
  /** Of that, given up. */
  readonly stolen: number | undefined;
  /** Read in again soon after they were given up; those of groups at their own limit count as well. */
  readonly refaulted: number | undefined;
  readonly swappedIn: number | undefined;
}

export const NO_RECLAIM_RATES: ReclaimRates = {
  scanned: undefined,
  stolen: undefined,
  refaulted: undefined,
  swappedIn: undefined,
};
