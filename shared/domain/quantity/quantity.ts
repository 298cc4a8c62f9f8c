import { type Decimal, addDecimals, compareDecimals, negateDecimal, roundDecimal, signOf } from './decimal.ts';
import { times, type Whole } from './whole.ts';

/** How a quantity is written: `2M`, `2Mi`, `2e6`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/**
 * An exact amount of a resource, as `resource.Quantity` of apimachinery (pkg/api/resource/quantity.go). Immutable.
 * `spelling` is the text it was parsed from where Kubernetes prints that again (oddity Q1); arithmetic forgets it.
 */
export interface Quantity extends Decimal {
  readonly format: QuantityFormat;
  readonly spelling: string | undefined;
}

export const ZERO: Quantity = { mantissa: 0, exponent: 0, format: 'DecimalSI', spelling: undefined };

const MILLI = -3;

/** A quantity of a safe integer, printed in `format`. */
export function quantityFromInteger(value: number, format: QuantityFormat): Quantity {
  return { mantissa: value, exponent: 0, format, spelling: undefined };
}

/** A quantity of thousandths, given as a safe integer. */
export function quantityFromMilli(value: number, format: QuantityFormat): Quantity {
  return { mantissa: value, exponent: MILLI, format, spelling: undefined };
}

/** -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return compareDecimals(a, b);
}

/** -1, 0 or 1 as the quantity is negative, zero or positive. */
export function quantitySign(a: Quantity): -1 | 0 | 1 {
  return signOf(a.mantissa);
}

/** a + b, in the format of a, or of b if a is zero (oddity Q10). */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return withFormat(addDecimals(a, b), resultFormat(a, b));
}

/** a - b, in the format of a, or of b if a is zero (oddity Q10). */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return withFormat(addDecimals(a, negateDecimal(b)), resultFormat(a, b));
}

/** a × an integer, in the format of a. */
export function multiplyQuantity(a: Quantity, by: number): Quantity {
  return withFormat({ mantissa: times(a.mantissa, by), exponent: a.exponent }, a.format);
}

/** The amount as an integer, fractions rounded away from zero: `Value()` where that does not overflow (oddity Q8). */
export function quantityValue(a: Quantity): Whole {
  return roundDecimal(a, 0);
}

/** The amount in thousandths, rounded away from zero: `MilliValue()` where that does not overflow (oddity Q8). */
export function quantityMilliValue(a: Quantity): Whole {
  return roundDecimal(a, MILLI);
}

/** `quantityValue` as a double: exact up to 2^53. For measuring and ordering, not for accounting. */
export function quantityNumber(a: Quantity): number {
  return Number(roundDecimal(a, 0));
}

/** `quantityMilliValue` as a double: exact up to 2^53. */
export function quantityMilliNumber(a: Quantity): number {
  return Number(roundDecimal(a, MILLI));
}

/** The amount as a double, possibly rounded: for ordering and for shares, not for accounting. */
export function approximateNumber({ mantissa, exponent }: Quantity): number {
  return Number(mantissa) * 10 ** exponent;
}

function resultFormat(a: Quantity, b: Quantity): QuantityFormat {
  return a.mantissa === 0 ? b.format : a.format;
}

function withFormat(amount: Decimal, format: QuantityFormat): Quantity {
  return { mantissa: amount.mantissa, exponent: amount.exponent, format, spelling: undefined };
}

/** Resource name to amount, as `ResourceList` of the core API. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const NO_AMOUNTS: Amounts = new Map();

/** Every resource of either; those in both are added. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a;
  if (a.size === 0) return b;
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const present = sum.get(name);
    sum.set(name, present === undefined ? amount : addQuantities(present, amount));
  }
  return sum;
}

/** Every resource of either: a minus b; a missing amount counts as zero. */
export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  const difference = new Map(a);
  for (const [name, amount] of b) {
    difference.set(name, subtractQuantities(difference.get(name) ?? ZERO, amount));
  }
  return difference;
}

/** Every resource of either, with the larger amount; if both are equal, that of a (oddity U6). */
export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a;
  if (a.size === 0) return b;
  const largest = new Map(a);
  for (const [name, amount] of b) {
    const present = largest.get(name);
    if (present === undefined || compareQuantities(amount, present) > 0) largest.set(name, amount);
  }
  return largest;
}

/** Only the resources that `keep` accepts; the same map if it accepts all. */
export function filterAmounts(amounts: Amounts, keep: (name: string, amount: Quantity) => boolean): Amounts {
  for (const [name, amount] of amounts) {
    if (!keep(name, amount)) return copyAmounts(amounts, keep);
  }
  return amounts;
}

function copyAmounts(amounts: Amounts, keep: (name: string, amount: Quantity) => boolean): Amounts {
  const kept = new Map<string, Quantity>();
  for (const [name, amount] of amounts) {
    if (keep(name, amount)) kept.set(name, amount);
  }
  return kept;
}

/** Whether both name the same resources with equal amounts, regardless of spelling. */
export function equalAmounts(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, amount]) => {
    const other = b.get(name);
    return other !== undefined && compareQuantities(amount, other) === 0;
  });
}

/** Whether all amounts are zero. */
export function areAllZero(amounts: Amounts): boolean {
  return [...amounts.values()].every((amount) => quantitySign(amount) === 0);
}

/** The names in code unit order. */
export function sortedNames(amounts: Amounts): readonly string[] {
  return [...amounts.keys()].sort();
}
