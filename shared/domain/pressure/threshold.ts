import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, addQuantities, compareQuantities, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import {
  isThresholdSignal,
  type ThresholdSignal,
  resourceOf,
  type Observation,
  type Observations,
  wholeQuantity,
  type PressureCondition,
  conditionOf,
} from './signal.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

/** An amount, or a share of the whole as a 32-bit float: 10 % is 0.10000000149011612. */
export type ThresholdValue =
  { readonly kind: 'amount'; readonly amount: Quantity } | { readonly kind: 'share'; readonly share: number };

/** The least that must be left of a resource, and for how long less is tolerated. */
export interface Threshold {
  /** The same for thresholds that are the same in every field. */
  readonly id: string;
  readonly signal: ThresholdSignal;
  readonly value: ThresholdValue;
  /** 0 makes it hard, regardless of where it was configured. */
  readonly gracePeriodSeconds: number;
  /** How far above the value the signal must rise before the pressure counts as over. */
  readonly minimumReclaim: ThresholdValue | undefined;
}

/** A threshold with its identity. */
export function createThreshold(fields: Omit<Threshold, 'id'>): Threshold {
  return { ...fields, id: `${sameness(fields)} reclaim ${describeValue(fields.minimumReclaim)}` };
}

/** A hard threshold evicts at once (`isHardEvictionThreshold`). */
export function isHard(threshold: Threshold): boolean {
  return threshold.gracePeriodSeconds === 0;
}

/** Equality of thresholds when old and new ones are merged (`hasThreshold`): everything except minimum reclaim. */
function sameness(threshold: Omit<Threshold, 'id'>): string {
  return `${threshold.signal} < ${describeValue(threshold.value)} for ${threshold.gracePeriodSeconds} s`;
}

function describeValue(value: ThresholdValue | undefined): string {
  if (value === undefined) return 'nothing';
  return value.kind === 'amount' ? canonicalQuantity(value.amount) : `${value.share} of the whole`;
}

const ID = /^(?<signal>\S+) < (?<value>.+) for (?<seconds>\d+) s reclaim (?<reclaim>.+)$/;
const SHARE = /^(?<share>\S+) of the whole$/;

/** The threshold with this id, which works even if its policy is gone; `undefined` if the text is not an id. */
export function thresholdOfId(id: string): Threshold | undefined {
  const { signal = '', value = '', seconds, reclaim = '' } = ID.exec(id)?.groups ?? {};
  const least = readValue(value);
  if (!isThresholdSignal(signal) || least === undefined) return undefined;
  const minimumReclaim = readValue(reclaim);
  const threshold = createThreshold({ signal, value: least, gracePeriodSeconds: Number(seconds), minimumReclaim });
  return threshold.id === id ? threshold : undefined;
}

function readValue(text: string): ThresholdValue | undefined {
  const share = SHARE.exec(text)?.groups?.['share'];
  if (share !== undefined) return { kind: 'share', share: Number(share) };
  const parsed = parseQuantity(text);
  return parsed.ok ? { kind: 'amount', amount: parsed.quantity } : undefined;
}

const SMALLEST_INT64 = -(2 ** 63);

/**
 * Whether less is left than the threshold requires, or than the threshold plus its minimum reclaim (`thresholdsMet` in
 * `pkg/kubelet/eviction/helpers.go`). A signal that was not observed is not below.
 */
export function isBelow(
  threshold: Threshold,
  observations: Observations,
  mark: 'value' | 'withMinimumReclaim' = 'value',
): boolean {
  const observed = observations.get(threshold.signal);
  if (observed === undefined) return false;
  const needed = mark === 'value' ? amountOf(threshold.value, observed) : amountToRelieve(threshold, observed);
  return compareQuantities(needed, observed.available) > 0;
}

/** The least that must be left for the pressure to count as over. */
export function amountToRelieve(threshold: Threshold, observed: Observation): Quantity {
  const value = amountOf(threshold.value, observed);
  return threshold.minimumReclaim === undefined
    ? value
    : addQuantities(value, amountOf(threshold.minimumReclaim, observed));
}

/**
 * A configured value as an amount. A share is multiplied in 64-bit floating point and cut, with binary suffixes even
 * where the signal counts inodes or processes (`GetThresholdQuantity` in `pkg/kubelet/eviction/api/types.go`).
 */
export function amountOf(value: ThresholdValue, observed: Observation): Quantity {
  if (value.kind === 'amount') return value.amount;
  return wholeQuantity(toInt64(quantityNumber(observed.capacity) * value.share), 'BinarySI');
}

/** Values that do not fit in a 64-bit integer become the smallest one, as on the processors that Kubernetes runs on. */
function toInt64(value: number): number {
  return value > SMALLEST_INT64 && value < -SMALLEST_INT64 ? Math.trunc(value) : SMALLEST_INT64;
}

/**
 * The thresholds to act on, the most urgent first: memory before the rest, as the kubelet sorts (`byEvictionPriority`),
 * and where its order depends on a map, hard before soft and then as configured.
 */
export function byUrgency(due: readonly Threshold[]): readonly Threshold[] {
  return due.toSorted((left, right) => urgency(left) - urgency(right));
}

function urgency(threshold: Threshold): number {
  const isMemory = resourceOf(threshold.signal) === 'memory';
  return (isMemory ? 0 : 2) + (isHard(threshold) ? 0 : 1);
}

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
