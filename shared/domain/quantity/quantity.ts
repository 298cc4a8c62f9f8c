import type { Decimal } from './decimal.ts';
import { addDecimals, compareDecimals, negateDecimal, roundDecimal, signOf } from './decimal.ts';
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
