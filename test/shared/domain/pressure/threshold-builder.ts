import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import type { ThresholdSignal } from '#shared/domain/pressure/signal.ts';
import { type Threshold, type ThresholdValue, createThreshold } from '#shared/domain/pressure/threshold.ts';

/** A threshold from texts: an amount such as `1Gi`, or a share as a number; grace in seconds. */
export function threshold(
  signal: ThresholdSignal,
  value: string | number,
  { grace = 0, reclaim }: { readonly grace?: number; readonly reclaim?: string | number } = {},
): Threshold {
  const minimumReclaim = reclaim === undefined ? undefined : thresholdValue(reclaim);
  return createThreshold({ signal, value: thresholdValue(value), gracePeriodSeconds: grace, minimumReclaim });
}

function thresholdValue(value: string | number): ThresholdValue {
  return typeof value === 'number' ? { kind: 'share', share: value } : { kind: 'amount', amount: quantity(value) };
}

/** A quantity from its text; throws where it is none. */
export function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new Error(`cannot read quantity "${text}"`);
  return parsed.quantity;
}
