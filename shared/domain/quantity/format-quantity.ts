import { type Quantity, type QuantityFormat, quantityMilliNumber, compareDecimals, roundDecimal } from './quantity.ts';
import { binarySuffix, decimalSuffix, parseQuantity } from './parse-quantity.ts';
import { type Whole, wholeFrom } from './whole.ts';

const ONE_KI = { mantissa: 1024, exponent: 0 };
const MINUS_ONE_KI = { mantissa: -1024, exponent: 0 };

/** Beyond this exponent an amount in BinarySI is printed as a decimal: factors of 1024 are found by division. */
const LARGEST_BINARY_EXPONENT = 400;

/** The text that the API prints: the remembered spelling if there is one, else the canonical form. */
export function formatQuantity(quantity: Quantity): string {
  return quantity.spelling ?? canonicalQuantity(quantity);
}

/**
 * The canonical form of the amount: the largest suffix that leaves no fraction. BinarySI prints as a decimal between
 * -1024 and 1024 and where the amount has a fraction (oddity Q9). Follows `CanonicalizeBytes` of
 * apimachinery pkg/api/resource/quantity.go.
 */
export function canonicalQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0) return '0';
  if (quantity.format === 'DecimalExponent') return decimalText(quantity, 'DecimalExponent');
  const whole = quantity.format === 'BinarySI' ? wholeNumberOfKi(quantity) : undefined;
  return whole === undefined ? decimalText(quantity, 'DecimalSI') : binaryText(whole);
}

/** The integer amount, if it is one of at least 1024 in size. */
function wholeNumberOfKi(quantity: Quantity): Whole | undefined {
  const isSmall = compareDecimals(quantity, MINUS_ONE_KI) > 0 && compareDecimals(quantity, ONE_KI) < 0;
  if (isSmall || quantity.exponent > LARGEST_BINARY_EXPONENT) return undefined;
  const whole = roundDecimal(quantity, 0);
  return compareDecimals({ mantissa: whole, exponent: 0 }, quantity) === 0 ? whole : undefined;
}

function binaryText(whole: Whole): string {
  const reduced = withoutFactors(whole, 1024);
  return `${reduced.rest}${binarySuffix(reduced.times)}`;
}

function decimalText(quantity: Quantity, format: QuantityFormat): string {
  const reduced = withoutFactors(quantity.mantissa, 10);
  const exponent = quantity.exponent + reduced.times;
  const aboveMultipleOfThree = ((exponent % 3) + 3) % 3;
  const zeros = '0'.repeat(aboveMultipleOfThree);
  return `${reduced.rest}${zeros}${decimalSuffix(exponent - aboveMultipleOfThree, format)}`;
}

/** Divides a non-zero integer by `factor` as often as possible. */
function withoutFactors(value: Whole, factor: number): { rest: Whole; times: number } {
  let rest = value;
  let times = 0;
  if (typeof rest === 'bigint') {
    const bigFactor = BigInt(factor);
    for (; rest % bigFactor === 0n; times++) rest /= bigFactor;
    rest = wholeFrom(rest);
  }
  if (typeof rest === 'number') for (; rest % factor === 0; times++) rest /= factor;
  return { rest, times };
}

const STEP = 1024;
const READABLE_UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** From here on a fraction adds nothing. */
const LARGE = 100;

/**
 * A quantity with a binary suffix in the largest unit that leaves at least 1, such as `19.6Gi`; any other text is not
 * changed.
 */
export function readableAmount(text: string): string {
  const parsed = /[KMGTPE]i$/.test(text) ? parseQuantity(text) : undefined;
  return parsed?.ok === true ? readableBytes(quantityMilliNumber(parsed.quantity) / 1000) : text;
}

/** Bytes in the largest unit that leaves at least 1, such as `1.2Gi`, to one decimal. */
export function readableBytes(bytes: number): string {
  if (Math.abs(bytes) < STEP) return String(Math.round(bytes));
  let amount = bytes / STEP;
  let unit = 0;
  while (Math.abs(rounded(amount)) >= STEP && unit < READABLE_UNITS.length - 1) {
    amount /= STEP;
    unit += 1;
  }
  return `${rounded(amount)}${READABLE_UNITS[unit] ?? ''}`;
}

function rounded(amount: number): number {
  return Math.abs(amount) >= LARGE ? Math.round(amount) : Math.round(amount * 10) / 10;
}
