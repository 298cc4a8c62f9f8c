import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, addQuantities, compareQuantities, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import {
  isKubeletSignal,
  type KubeletSignal,
  resourceOf,
  type Observation,
  type Observations,
  wholeQuantity,
} from './signal.ts';

/** An amount, or a share of the whole as a 32-bit float: 10 % is 0.10000000149011612. */
export type ThresholdValue =
  { readonly kind: 'amount'; readonly amount: Quantity } | { readonly kind: 'share'; readonly share: number };

/** The least that must be left of a resource, and for how long less is tolerated. */
export interface Threshold {
  /** The same for thresholds that are the same in every field. */
  readonly id: string;
  readonly signal: KubeletSignal;
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
export function sameness(threshold: Omit<Threshold, 'id'>): string {
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
  if (!isKubeletSignal(signal) || least === undefined) return undefined;
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
