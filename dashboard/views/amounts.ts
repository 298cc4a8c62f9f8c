import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';

/** The share of `capacity` that is gone when `available` is left; `undefined` where one cannot be read. */
export function usedRatio(available: string | undefined, capacity: string | undefined): number | undefined {
  const left = amountOf(available);
  const all = amountOf(capacity);
  if (left === undefined || all === undefined || all <= 0) return undefined;
  return within(1 - left / all);
}

/** The share of `hard` that is used; `undefined` where one cannot be read or nothing is allowed. */
export function shareOf(used: string, hard: string): number | undefined {
  const taken = amountOf(used);
  const all = amountOf(hard);
  return taken === undefined || all === undefined || all <= 0 ? undefined : within(taken / all);
}

/** Bytes left above a threshold as people read them; negative below it. */
export function headroomOf(available: string | undefined, threshold: string | undefined): string | undefined {
  const left = amountOf(available);
  const line = amountOf(threshold);
  return left === undefined || line === undefined ? undefined : readableBytes((left - line) / 1000);
}

function within(ratio: number): number {
  return Math.round(Math.min(1, Math.max(0, ratio)) * 10_000) / 10_000;
}

function amountOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseQuantity(text);
  return parsed.ok ? quantityMilliNumber(parsed.quantity) : undefined;
}
