import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { NO_PRESSURE, type PressureState } from '#shared/domain/pressure/advance-pressure.ts';
import type { PastEviction } from './eviction-windows.ts';
import { type FigureGaps, NO_GAPS } from './figure-gap.ts';
import type { InflightEviction } from './inflight-eviction.ts';
import type { MetStalls } from './advance-stalls.ts';
import { CALM, type CircuitBreaker } from './eviction-circuit-breaker.ts';

/** A pod that is left alone for a while, because an attempt to evict it came to nothing. */
export interface Pause {
  readonly until: Instant;
  readonly attempts: number;
  readonly because: Because;
}

/** How fast the node's free memory shrinks. */
export interface Trend {
  readonly at: Instant;
  readonly available: number;
  /** Bytes per millisecond; 0 while it grows. */
  readonly fillRate: number;
}

/**
 * What the agent remembers from one look to the next. All times are monotonic milliseconds. Losing it costs grace
 * periods and windows, never a wrong eviction: what is on its way is read from the pods themselves (F-17).
 */
export interface AgentState {
  readonly pressure: PressureState;
  readonly stalls: MetStalls;
  readonly flights: readonly InflightEviction[];
  /** Pods that end for other reasons: since when they were seen to. */
  readonly endingSince: ReadonlyMap<string, Instant>;
  readonly past: readonly PastEviction[];
  readonly pauses: ReadonlyMap<string, Pause>;
  readonly guard: CircuitBreaker;
  readonly trend: Trend | undefined;
  /** Memory signals of which the kubelet's figure tells something else than ours. */
  readonly figureGaps: FigureGaps;
  /** No attempt before this time: the API server or a budget said no a moment ago. */
  readonly nextAttemptAt: Instant;
  /** Pods that the kubelet ended, and when that was last seen to happen. */
  readonly kubeletVictims: ReadonlySet<string>;
  readonly kubeletActedAt: Instant | undefined;
}

export const FIRST_STATE: AgentState = {
  pressure: NO_PRESSURE,
  stalls: new Map(),
  flights: [],
  endingSince: new Map(),
  past: [],
  pauses: new Map(),
  guard: CALM,
  trend: undefined,
  figureGaps: NO_GAPS,
  nextAttemptAt: 0,
  kubeletVictims: new Set(),
  kubeletActedAt: undefined,
};
