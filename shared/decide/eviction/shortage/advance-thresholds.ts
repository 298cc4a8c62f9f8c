import type { Instant } from '#shared/domain/pod/pod.ts';
import {
  advancePressure,
  NO_PRESSURE,
  type PressureState,
  isBelow,
  amountOf,
  isHard,
  type Threshold,
  amountToRelieve,
} from '#shared/domain/pressure/threshold.ts';
import {
  type Observation,
  type Observations,
  wholeQuantity,
  type ThresholdSignal,
} from '#shared/domain/pressure/signal.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { quantityNumber, compareQuantities } from '#shared/domain/quantity/quantity.ts';
import { isMemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';

/** State of the thresholds from one pass to the next. */
export interface ThresholdState {
  readonly pressure: PressureState;
  readonly recent: RecentFigures;
  readonly confirmations: Confirmations;
}

export const NO_THRESHOLDS: ThresholdState = { pressure: NO_PRESSURE, recent: new Map(), confirmations: new Map() };

/**
 * A grace period restarts after this much relief, not after one measurement above the threshold: with ten measurements
 * a second one of them is nearly always above it, and the agent would never act where the kubelet does.
 */
const RELIEF_MS = 1000;

/**
 * The thresholds after one more pass. The rules are the kubelet's, adapted to ten passes a second: hard memory
 * thresholds are confirmed first, soft ones are compared with what was available for most of the last second.
 */
export function advanceThresholds(
  previous: ThresholdState,
  observations: Observations,
  policy: Pick<AgentPolicy, 'thresholds' | 'transitionPeriodMs'>,
  now: Instant,
): ThresholdState {
  const recent = advanceRecent(previous.recent, observations, now);
  const seen = { observations, recent, now };
  const confirmations = advanceConfirmations(previous.confirmations, policy.thresholds, seen);
  const rules = {
    ...policy,
    reliefMs: RELIEF_MS,
    isCrossed: (threshold: Threshold): boolean => isCrossed(threshold, { ...seen, confirmations }),
  };
  return { pressure: advancePressure(previous.pressure, observations, rules, now), recent, confirmations };
}

function isCrossed(
  threshold: Threshold,
  { observations, recent, confirmations }: Seen & Pick<ThresholdState, 'confirmations'>,
): boolean {
  const observed = observationFor(threshold, observations, recent);
  if (observed === undefined || !isBelow(threshold, new Map([[threshold.signal, observed]]))) return false;
  return !needsConfirmation(threshold) || confirmations.get(threshold.id)?.isConfirmed === true;
}

/**
 * The observation a threshold is compared with: for a hard one the last measurement, for a soft one the median of the
 * last second.
 */
export function observationFor(
  threshold: Threshold,
  observations: Observations,
  recent: RecentFigures,
): Observation | undefined {
  const observed = observations.get(threshold.signal);
  const usual = isHard(threshold) ? undefined : usualAvailable(recent.get(threshold.signal));
  if (observed === undefined || usual === undefined) return observed;
  return { ...observed, available: wholeQuantity(usual, observed.available.format) };
}

/**
 * Whether a hard memory threshold that is crossed is met. A brief dip causes no eviction:
 *
 *     clear ── below ──▶ seen ── below for a second, nearly gone, or falling too fast ──▶ confirmed
 *       ▲                  │                                                                 │
 *       └── not below ─────┘                                  relieved, minimum reclaim too ─┘
 */
export interface Confirmation {
  /** When the first measurement below it was taken. */
  readonly since: Instant;
  readonly isConfirmed: boolean;
}

/** By threshold id; contains only thresholds that are crossed. */
export type Confirmations = ReadonlyMap<string, Confirmation>;

const CONFIRM_MS = 1000;
/**
 * One second until the next measurement counts, two until a victim's memory is free, one for a candidate whose eviction
 * is refused.
 */
const TOO_LATE_MS = 4000;
const MIB = 1024 * 1024;
/** A process can allocate this much before the next pass: at 3 GiB a second, in 40 ms. */
const LAST_BYTES = 128 * MIB;
const LAST_SHARE = 0.005;

/** Whether a threshold needs confirmation: only hard ones on memory, which has short peaks. */
function needsConfirmation(threshold: Threshold): boolean {
  return isHard(threshold) && isMemorySignal(threshold.signal);
}

/** What one pass observed. */
export interface Seen {
  readonly observations: Observations;
  readonly recent: RecentFigures;
  readonly now: Instant;
}

/** The confirmations after one more pass. */
function advanceConfirmations(previous: Confirmations, thresholds: readonly Threshold[], seen: Seen): Confirmations {
  const next = thresholds.filter(needsConfirmation).flatMap((threshold) => {
    const before = previous.get(threshold.id);
    const after = before?.isConfirmed === true ? unlessRelieved(before, threshold, seen) : see(before, threshold, seen);
    return after === undefined ? [] : [[threshold.id, after] as const];
  });
  return new Map(next);
}

type AdvanceConfirmation = (
  before: Confirmation | undefined,
  threshold: Threshold,
  seen: Seen,
) => Confirmation | undefined;

const unlessRelieved: AdvanceConfirmation = (before, threshold, { observations }) =>
  isBelow(threshold, observations, 'withMinimumReclaim') ? before : undefined;

const see: AdvanceConfirmation = (before, threshold, { observations, recent, now }) => {
  const observed = observations.get(threshold.signal);
  if (observed === undefined || !isBelow(threshold, observations)) return undefined;
  const at = observed.at ?? now;
  const since = before?.since ?? at;
  const samples = recent.get(threshold.signal) ?? [];
  return { since, isConfirmed: at - since >= CONFIRM_MS || cannotWait(threshold, observed, samples) };
};

/** Whether the memory would be exhausted before a second measurement could help. */
function cannotWait(threshold: Threshold, observed: Observation, samples: readonly Sample[]): boolean {
  const available = quantityNumber(observed.available);
  return available <= lastBytes(threshold, observed) || available <= steadyFillRate(samples) * TOO_LATE_MS;
}

/** Nearly exhausted: half the threshold, but on a large node no more than its processes can take in a moment. */
function lastBytes({ value }: Threshold, observed: Observation): number {
  const half = quantityNumber(amountOf(value, observed)) / 2;
  return Math.min(half, Math.max(LAST_BYTES, quantityNumber(observed.capacity) * LAST_SHARE));
}

/** The available amount of a signal at one moment, in its own unit. */
export interface Sample {
  readonly at: Instant;
  readonly available: number;
}

/** The measurements of each signal in the last second, oldest first: enough to distinguish a peak from a shortage. */
export type RecentFigures = ReadonlyMap<ThresholdSignal, readonly Sample[]>;

const WINDOW_MS = 1000;
/** Closer samples would only cost memory; the newest is always kept. */
const SPACING_MS = 60;
/** A fall that has lasted about this long counts as steady. */
const STEADY_MS = 600;
const FEWEST_FOR_A_RATE = 3;

/** The samples after one more pass; a signal that is unknown now is dropped. */
export function advanceRecent(previous: RecentFigures, observations: Observations, now: Instant): RecentFigures {
  return new Map(
    Array.from(observations, ([signal, observed]) => [signal, addSample(previous.get(signal), observed, now)] as const),
  );
}

const NO_SAMPLES: readonly Sample[] = [];

function addSample(samples = NO_SAMPLES, observed: Observation, now: Instant): readonly Sample[] {
  const sample = { at: observed.at ?? now, available: quantityNumber(observed.available) };
  const last = samples.at(-1);
  if (last !== undefined && sample.at <= last.at) return samples;
  const beforeLast = samples.at(-2);
  const isClose = last !== undefined && beforeLast !== undefined && last.at - beforeLast.at < SPACING_MS;
  const kept = samples.filter(
    ({ at }, index) => sample.at - at <= WINDOW_MS && !(isClose && index === samples.length - 1),
  );
  return [...kept, sample];
}

/** The median available amount of the last second, the smaller of two; `undefined` without a measurement. */
export function usualAvailable(samples = NO_SAMPLES): number | undefined {
  const sorted = samples.map(({ available }) => available).sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/**
 * How fast the available amount has shrunk in both halves of the last moments, per millisecond; a single step is no
 * rate.
 */
export function steadyFillRate(samples = NO_SAMPLES): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  const recent = samples.filter(({ at }) => newest.at - at <= STEADY_MS);
  const [oldest] = recent;
  const middle = recent[Math.floor(recent.length / 2)];
  if (recent.length < FEWEST_FOR_A_RATE || oldest === undefined || middle === undefined) return 0;
  return Math.max(0, Math.min(rateBetween(oldest, middle), rateBetween(middle, newest)));
}

function rateBetween(earlier: Sample, later: Sample): number {
  return (earlier.available - later.available) / (later.at - earlier.at);
}

/**
 * Whether a node without a history is short beyond doubt: by a default threshold of the signal, or with less than a tenth
 * of its process IDs left. No pod is evicted for other signals (docs/contributing/decisions/agent-sources.md).
 */
export function isShortByDefault({ signal }: Threshold, observations: Observations): boolean {
  const usual = USUAL_THRESHOLDS.filter((each) => each.signal === signal);
  return usual.length === 0 || usual.some((each) => isBelow(each, observations));
}

/** Neither this project nor the kubelet has a default for process IDs; managed clusters use 10 %. */
const PROCESS_IDS = parseThresholds({ evictionHard: { 'pid.available': '10%' } });
const USUAL_THRESHOLDS = [...DEFAULT_POLICY.thresholds, ...(PROCESS_IDS.ok ? PROCESS_IDS.thresholds : [])];

/** Whether of two thresholds of one kind the first evicts wherever the second does. */
export function asksForAsMuch(first: Threshold, second: Threshold, observations: Observations): boolean {
  const observed = observations.get(second.signal);
  if (observed === undefined || !isSuccessor(second, first)) return false;
  const isAsMuch = compareQuantities(amountToRelieve(first, observed), amountToRelieve(second, observed)) >= 0;
  const isAsHigh = compareQuantities(amountOf(first.value, observed), amountOf(second.value, observed)) >= 0;
  return isAsMuch && isAsHigh && first.gracePeriodSeconds <= second.gracePeriodSeconds;
}

/** Whether a threshold can replace another: both are of one signal and both hard or both soft. */
export function isSuccessor(threshold: Threshold, before: Threshold): boolean {
  return threshold.signal === before.signal && isHard(threshold) === isHard(before);
}
