import type { Instant } from '#shared/domain/pod/pod.ts';
import { isBelow, type Threshold, isHard, sameness } from './threshold.ts';
import { type Observations, type PressureCondition, conditionOf } from './signal.ts';

/**
 * The kubelet's memory between two passes (`synchronize` in `pkg/kubelet/eviction/eviction_manager.go`).
 *
 * quiet ── available falls below ──▶ observed ── grace period passes ──▶ met ── new statistics ──▶ due
 * ▲                                   │                                 │
 * └───── available recovers ──────────┘      available recovers ────────┘
 * (grace starts over)                  beyond minimum reclaim
 *
 * It holds timing and nothing else: losing it costs a grace period, never a wrong eviction.
 */
export interface PressureState {
  /** Crossed, or met earlier and not yet relieved; grace periods aside. */
  readonly observed: readonly Threshold[];
  /** By threshold id: since when it has been observed without a significant break. */
  readonly firstObserved: ReadonlyMap<string, Instant>;
  /** By threshold id: when it was last observed, while a break is still too short to count. */
  readonly lastObserved: ReadonlyMap<string, Instant>;
  /** Observed for longer than their grace period. */
  readonly met: readonly Threshold[];
  /** Met, and measured again since the last pass: only these may evict. */
  readonly due: readonly Threshold[];
  readonly conditionLastObserved: ReadonlyMap<PressureCondition, Instant>;
  /** Raised at once, lowered after a whole quiet transition period; sorted. */
  readonly conditions: readonly PressureCondition[];
  readonly observations: Observations;
}

export interface PressureRules {
  readonly thresholds: readonly Threshold[];
  /** 0 means that no condition is ever raised. */
  readonly transitionPeriodMs: number;
  /** Whether a threshold counts as crossed in this pass; the kubelet accepts every measurement. */
  readonly isCrossed?: (threshold: Threshold) => boolean;
  /** A break shorter than this does not start a grace period over. The kubelet, which looks every ten seconds, has 0. */
  readonly reliefMs?: number;
}

/** The state before the first pass. */
export const NO_PRESSURE: PressureState = {
  observed: [],
  firstObserved: new Map(),
  lastObserved: new Map(),
  met: [],
  due: [],
  conditionLastObserved: new Map(),
  conditions: [],
  observations: new Map(),
};

/** The state after one pass. Thresholds that are no longer configured are dropped. */
export function advancePressure(
  previous: PressureState,
  observations: Observations,
  rules: PressureRules,
  now: Instant,
): PressureState {
  const isCrossed = rules.isCrossed ?? ((threshold) => isBelow(threshold, observations));
  const observed = merge(rules.thresholds.filter(isCrossed), unrelieved(previous.met, observations, rules.thresholds));
  const lastObserved = untilWhen(observed, previous.lastObserved, rules, now);
  const firstObserved = sinceWhen(lastObserved, previous.firstObserved, now);
  const met = observed.filter((threshold) => hasGracePassed(threshold, firstObserved, now));
  const conditionLastObserved = noteConditions(observed, previous.conditionLastObserved, now);
  return {
    observed,
    firstObserved,
    lastObserved,
    met,
    due: met.filter((threshold) => isMeasuredAnew(threshold, observations, previous.observations)),
    conditionLastObserved,
    conditions: conditionsWithin(conditionLastObserved, rules.transitionPeriodMs, now),
    observations,
  };
}

function unrelieved(
  met: readonly Threshold[],
  observations: Observations,
  configured: readonly Threshold[],
): readonly Threshold[] {
  const known = new Set(configured.map((threshold) => threshold.id));
  return met.filter((threshold) => known.has(threshold.id) && isBelow(threshold, observations, 'withMinimumReclaim'));
}

/** Two that differ only in minimum reclaim count once (`mergeThresholds`). */
function merge(crossed: readonly Threshold[], unrelievedOnes: readonly Threshold[]): readonly Threshold[] {
  const all = crossed.slice();
  for (const threshold of unrelievedOnes) {
    if (!all.some((other) => sameness(other) === sameness(threshold))) all.push(threshold);
  }
  return all;
}

/** A threshold that is not observed is remembered until its relief has lasted. */
function untilWhen(
  observed: readonly Threshold[],
  previous: ReadonlyMap<string, Instant>,
  { thresholds, reliefMs = 0 }: PressureRules,
  now: Instant,
): ReadonlyMap<string, Instant> {
  const configured = new Set(thresholds.map(({ id }) => id));
  const paused = Array.from(previous).filter(([id, at]) => configured.has(id) && now - at < reliefMs);
  return new Map([...paused, ...observed.map(({ id }) => [id, now] as const)]);
}

/** A remembered threshold keeps its time; any other starts now. */
function sinceWhen(
  remembered: ReadonlyMap<string, Instant>,
  previous: ReadonlyMap<string, Instant>,
  now: Instant,
): ReadonlyMap<string, Instant> {
  return new Map(Array.from(remembered.keys(), (id) => [id, previous.get(id) ?? now]));
}

function hasGracePassed(threshold: Threshold, firstObserved: ReadonlyMap<string, Instant>, now: Instant): boolean {
  const seconds = (now - (firstObserved.get(threshold.id) ?? now)) / 1000;
  return isHard(threshold) || seconds >= threshold.gracePeriodSeconds;
}

function noteConditions(
  observed: readonly Threshold[],
  previous: ReadonlyMap<PressureCondition, Instant>,
  now: Instant,
): ReadonlyMap<PressureCondition, Instant> {
  return new Map([...previous, ...observed.map(({ signal }) => [conditionOf(signal), now] as const)]);
}

function conditionsWithin(
  lastObserved: ReadonlyMap<PressureCondition, Instant>,
  periodMs: number,
  now: Instant,
): readonly PressureCondition[] {
  const recent = Array.from(lastObserved).filter(([, at]) => now - at < periodMs);
  return recent.map(([condition]) => condition).sort();
}

/** Statistics no newer than the last ones would evict a second pod for the same shortage (`thresholdsUpdatedStats`). */
function isMeasuredAnew({ signal }: Threshold, observations: Observations, previous: Observations): boolean {
  const current = observations.get(signal);
  if (current === undefined) return false;
  const last = previous.get(signal);
  if (last === undefined || current.at === undefined) return true;
  return last.at === undefined || current.at > last.at;
}
