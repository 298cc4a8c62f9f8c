import type { Instant } from '#shared/domain/pod/pod.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { Shortage } from './shortage/pressure-trigger.ts';
import type { RuleActivations } from './shortage/rule-activation.ts';
import { type FigureComparison, NOT_COMPARED } from './snapshot/figure-gap.ts';
import { type MetStalls, NO_STARTS, type StallStartsByMode } from './shortage/advance-stalls.ts';
import { NO_THRESHOLDS, type ThresholdState } from './shortage/advance-thresholds.ts';
import type { TerminatingPods } from './eviction/terminating-pods.ts';
import type { Trend } from './shortage/fill-rate.ts';
import { type CircuitBreakers, NO_BREAKERS } from './eviction/eviction-circuit-breaker.ts';
import { type EvictionsByMode, NO_EVICTIONS } from './eviction/eviction-state.ts';

/**
 * What the agent keeps from one pass to the next. All times are monotonic milliseconds. Losing it restarts grace
 * periods and windows but causes no wrong eviction: evictions in flight are read from the pods themselves.
 */
export interface AgentState extends ThresholdState {
  readonly stalls: MetStalls;
  readonly stallStarts: StallStartsByMode;
  /** Which rules may act, and which were already met when they came into force. */
  readonly activations: RuleActivations;
  readonly evictions: EvictionsByMode;
  readonly terminating: TerminatingPods;
  /** The most urgent shortage. */
  readonly shortage: Shortage | undefined;
  readonly breakers: CircuitBreakers;
  readonly trend: Trend | undefined;
  /** How the kubelet's memory figures compare with the reclaimable memory. */
  readonly figures: FigureComparison;
  /** Since when no running pod has had statistics. */
  readonly unmeasuredSince: Instant | undefined;
  /** Pods that the kubelet evicted, and when that was last observed for each resource. */
  readonly kubeletVictims: ReadonlySet<string>;
  readonly kubeletActedAt: ReadonlyMap<StarvedResource, Instant>;
}

export const FIRST_STATE: AgentState = {
  ...NO_THRESHOLDS,
  stalls: new Map(),
  stallStarts: NO_STARTS,
  activations: undefined,
  evictions: NO_EVICTIONS,
  terminating: new Map(),
  shortage: undefined,
  breakers: NO_BREAKERS,
  trend: undefined,
  figures: NOT_COMPARED,
  unmeasuredSince: undefined,
  kubeletVictims: new Set(),
  kubeletActedAt: new Map(),
};
