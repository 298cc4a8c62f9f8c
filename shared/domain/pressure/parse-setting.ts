import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { QuantityError } from '#shared/domain/quantity/parse-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import { durationSeconds, parseDuration } from './parse-duration.ts';
import { parsePercentage } from './parse-percentage.ts';
import type { KubeletSignal } from './signal.ts';
import type { ThresholdValue } from './threshold.ts';

/** One line of a settings table. */
export type Entry = readonly [signal: KubeletSignal, text: string];

/** What a line says, or what is wrong with it in the kubelet's words. */
export type Parsed<T> =
  { readonly kind: 'value'; readonly value: T } | { readonly kind: 'mistake'; readonly message: string };

/** Error texts of apimachinery (`pkg/api/resource/quantity.go`). */
const QUANTITY_MESSAGES: Readonly<Record<QuantityError, string>> = {
  format: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  suffix: "unable to parse quantity's suffix",
  numeric: 'unable to parse numeric part of quantity',
};

/** Reads the value of a threshold: a share from 0 to 1, or an amount above 0 (`parseThresholdStatement`). */
export function parseValue([signal, text]: Entry): Parsed<ThresholdValue> {
  return text.endsWith('%') ? parseShare([signal, text]) : parseAmount([signal, text]);
}

function parseShare([signal, text]: Entry): Parsed<ThresholdValue> {
  const parsed = parsePercentage(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.share < 0) return mistake(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
  if (parsed.share > 1) return mistake(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
  return share(parsed.share);
}

function parseAmount([signal, text]: Entry): Parsed<ThresholdValue> {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return mistake(QUANTITY_MESSAGES[parsed.error]);
  if (quantitySign(parsed.quantity) > 0) return amount(parsed.quantity);
  return mistake(`eviction threshold ${signal} must be positive: ${formatQuantity(parsed.quantity)}`);
}

/** Reads a minimum reclaim: a share above 0, or an amount of at least 0 (`parseMinimumReclaims`). */
export function parseMinimumReclaim([signal, text]: Entry): Parsed<ThresholdValue> {
  return text.endsWith('%') ? parseReclaimShare([signal, text]) : parseReclaimAmount([signal, text]);
}

function parseReclaimShare([signal, text]: Entry): Parsed<ThresholdValue> {
  const parsed = parsePercentage(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.share <= 0) return mistake(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
  return share(parsed.share);
}

function parseReclaimAmount([signal, text]: Entry): Parsed<ThresholdValue> {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return mistake(QUANTITY_MESSAGES[parsed.error]);
  if (quantitySign(parsed.quantity) >= 0) return amount(parsed.quantity);
  return mistake(`negative eviction minimum reclaim specified for ${signal}`);
}

/** Reads a grace period in seconds (`parseGracePeriods`). */
export function parseGracePeriod([, text]: Entry): Parsed<number> {
  const parsed = parseDuration(text);
  if (!parsed.ok) return mistake(parsed.message);
  if (parsed.nanoseconds >= 0n) return { kind: 'value', value: durationSeconds(parsed.nanoseconds) };
  return mistake(`invalid eviction grace period specified: ${text}, must be a positive value`);
}

function share(of: number): Parsed<ThresholdValue> {
  return { kind: 'value', value: { kind: 'share', share: of } };
}

function amount(quantity: Quantity): Parsed<ThresholdValue> {
  return { kind: 'value', value: { kind: 'amount', amount: quantity } };
}

function mistake(message: string): Parsed<never> {
  return { kind: 'mistake', message };
}
