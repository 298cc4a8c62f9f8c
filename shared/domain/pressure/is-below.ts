import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { addQuantities, compareQuantities, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Observation, Observations } from './observation.ts';
import { wholeQuantity } from './observation.ts';
import type { Threshold, ThresholdValue } from './threshold.ts';

const SMALLEST_INT64 = -(2 ** 63);

/**
 * Whether less is left than the threshold asks for, or than it and its minimum reclaim ask for together
 * (`thresholdsMet` in `pkg/kubelet/eviction/helpers.go`). What was not observed is not below.
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

/** What no 64-bit integer can hold becomes the smallest one, as on the processors that Kubernetes runs on. */
function toInt64(value: number): number {
  return value > SMALLEST_INT64 && value < -SMALLEST_INT64 ? Math.trunc(value) : SMALLEST_INT64;
}
