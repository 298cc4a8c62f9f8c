import { type Whole, wholeFrom } from './whole.ts';

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
const MAX_LENGTHS = 1_024;
const DIGITS_PER_HEX_DIGIT = Math.log10(16);
/** Powers are cached: a tenant may write thousands of such numbers into one pod. */
const LARGE_POWERS = new Map<number, bigint>();

const POWERS_OF_TEN: readonly number[] = Array.from({ length: 16 }, (_, power) => 10 ** power);

/** -1, 0 or 1 as `value` is below, at or above zero. */
export function signOf(value: Whole): -1 | 0 | 1 {
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
  if (shift > 0) return wholeFrom(BigInt(a.mantissa) * powerOfTen(Math.min(shift, MAX_LENGTHS)));
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
  if (difference > MAX_LENGTHS) return a;
  if (difference < -MAX_LENGTHS) return b;
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
  if (exponent <= MAX_LENGTHS) LARGE_POWERS.set(exponent, power);
  return power;
}
