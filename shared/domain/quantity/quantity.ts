import { times, type Whole, wholeFrom } from './whole.ts';

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
    if (!keep(name, amount)) return new Map([...amounts].filter(([each, its]) => keep(each, its)));
  }
  return amounts;
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

/**
 * An exact number: mantissa × 10^exponent. The mantissa is a `number` while it is safe, so that everyday amounts cost
 * no allocation. Never `-0`.
 */
export interface Decimal {
  readonly mantissa: Whole;
  readonly exponent: number;
}

/**
 * Beyond this distance in digits between two operands, a sum ignores the smaller one; a rounded integer is limited to
 * this many digits. Kubernetes would compute such numbers in full and not return (Q12).
 */
const MAX_DIGITS = 1_024;
const DIGITS_PER_HEX_DIGIT = Math.log10(16);
/** Powers are cached: a tenant may write thousands of such numbers into one pod. */
const LARGE_POWERS = new Map<number, bigint>();

const POWERS_OF_TEN: readonly number[] = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** -1, 0 or 1 as `value` is below, at or above zero. */
function signOf(value: Whole): -1 | 0 | 1 {
  if (value > 0) return 1;
  return value < 0 ? -1 : 0;
}

/** -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compareDecimals(a: Decimal, b: Decimal): -1 | 0 | 1 {
  if (a.exponent === b.exponent) return compareValues(a.mantissa, b.mantissa);
  const sign = signOf(a.mantissa);
  if (sign !== signOf(b.mantissa) || sign === 0) return compareValues(sign, signOf(b.mantissa));
  const exponent = Math.min(a.exponent, b.exponent);
  const left = scaledDown(a, exponent);
  const right = scaledDown(b, exponent);
  if (left !== undefined && right !== undefined) return compareValues(left, right);
  return compareLarge(a, b, sign);
}

/** The exact sum; an operand more than 1,024 digits below the other is left out. */
export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.mantissa === 0) return b;
  if (b.mantissa === 0) return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const left = scaledDown(a, exponent);
  const right = scaledDown(b, exponent);
  if (left !== undefined && right !== undefined) {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return { mantissa: sum, exponent };
  }
  return addLarge(a, b, exponent);
}

/** The same number with the other sign. */
export function negateDecimal(a: Decimal): Decimal {
  return { mantissa: a.mantissa === 0 ? 0 : -a.mantissa, exponent: a.exponent };
}

/** a / 10^exponent as an integer, fractions rounded away from zero; limited to about 1,024 digits. */
export function roundDecimal(a: Decimal, exponent: number): Whole {
  const shift = a.exponent - exponent;
  if (shift === 0 || a.mantissa === 0) return a.mantissa;
  const small = shift > 0 ? scaledDown(a, exponent) : undefined;
  if (small !== undefined) return small;
  if (shift > 0) return wholeFrom(BigInt(a.mantissa) * powerOfTen(Math.min(shift, MAX_DIGITS)));
  return divideAwayFromZero(a.mantissa, -shift);
}

/** How many digits the integer part has; zero or less when the number is below 1. */
function integerDigits(a: Decimal): number {
  return digitsOf(a.mantissa) + a.exponent;
}

/** The mantissa of `a` written with a lower exponent, where that is still a safe integer. */
function scaledDown(a: Decimal, exponent: number): number | undefined {
  if (typeof a.mantissa !== 'number') return undefined;
  const power = POWERS_OF_TEN[a.exponent - exponent];
  if (power === undefined) return undefined;
  const scaled = a.mantissa * power;
  return Number.isSafeInteger(scaled) ? scaled : undefined;
}

function compareValues(a: Whole, b: Whole): -1 | 0 | 1 {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function compareLarge(a: Decimal, b: Decimal, sign: number): -1 | 0 | 1 {
  const difference = integerDigits(a) - integerDigits(b);
  if (difference !== 0) return difference > 0 === sign > 0 ? 1 : -1;
  const exponent = Math.min(a.exponent, b.exponent);
  return compareValues(atExponent(a, exponent), atExponent(b, exponent));
}

function addLarge(a: Decimal, b: Decimal, exponent: number): Decimal {
  const difference = integerDigits(a) - integerDigits(b);
  if (difference > MAX_DIGITS) return a;
  if (difference < -MAX_DIGITS) return b;
  return { mantissa: wholeFrom(atExponent(a, exponent) + atExponent(b, exponent)), exponent };
}

function atExponent(a: Decimal, exponent: number): bigint {
  return BigInt(a.mantissa) * powerOfTen(a.exponent - exponent);
}

/**
 * Converting a large integer to text takes linear time in base 16 but quadratic time in base 10; the rest is found by
 * comparing.
 */
function digitsOf(mantissa: Whole): number {
  if (typeof mantissa === 'number') return String(Math.abs(mantissa)).length;
  const size = mantissa < 0n ? -mantissa : mantissa;
  let digits = Math.floor((size.toString(16).length - 1) * DIGITS_PER_HEX_DIGIT) + 1;
  while (size >= powerOfTen(digits)) digits += 1;
  return digits;
}

function divideAwayFromZero(mantissa: Whole, power: number): Whole {
  if (power >= digitsOf(mantissa)) return signOf(mantissa);
  const divisor = POWERS_OF_TEN[power];
  if (typeof mantissa === 'number' && divisor !== undefined) {
    const quotient = (mantissa - (mantissa % divisor)) / divisor;
    return mantissa % divisor === 0 ? quotient : quotient + signOf(mantissa);
  }
  const large = BigInt(mantissa);
  const largeDivisor = powerOfTen(power);
  const remainder = large % largeDivisor;
  return wholeFrom(large / largeDivisor + BigInt(signOf(remainder)));
}

function powerOfTen(exponent: number): bigint {
  const known = LARGE_POWERS.get(exponent);
  if (known !== undefined) return known;
  const power = 10n ** BigInt(exponent);
  if (exponent <= MAX_DIGITS) LARGE_POWERS.set(exponent, power);
  return power;
}
