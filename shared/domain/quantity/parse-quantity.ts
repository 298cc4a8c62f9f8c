import {
  type Decimal,
  compareDecimals,
  roundDecimal,
  type Quantity,
  type QuantityFormat,
  quantityNumber,
} from './quantity.ts';
import { type Whole, wholeFrom } from './whole.ts';

/** Which of the three parse errors of apimachinery it is. */
export type QuantityError = 'format' | 'suffix' | 'numeric';

export type ParsedQuantity =
  { readonly ok: true; readonly quantity: Quantity } | { readonly ok: false; readonly error: QuantityError };

/** The parts of a text, without leading zeros. */
interface NumberParts {
  readonly isNegative: boolean;
  readonly hasDigits: boolean;
  readonly integer: string;
  readonly fraction: string;
  readonly suffix: string;
}

/**
 * Kubernetes reads and stores any number of digits, in quadratic time. An integer of more digits is read as 10^128,
 * further decimals as one digit: both are beyond everything they are compared with.
 */
const MAX_DIGITS = 128;

const SMALLEST_EXPONENT = -9;
const MAX_DECIMAL_DIGITS = 18;
const LARGEST_BINARY: Decimal = { mantissa: 2n ** 63n - 1n, exponent: 0 };
const ONE: Decimal = { mantissa: 1, exponent: 0 };

const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

const FORMAT_ERROR: ParsedQuantity = { ok: false, error: 'format' };
const SUFFIX_ERROR: ParsedQuantity = { ok: false, error: 'suffix' };
const NUMERIC_ERROR: ParsedQuantity = { ok: false, error: 'numeric' };

/**
 * Reads a quantity as `ParseQuantity` of apimachinery (pkg/api/resource/quantity.go), its three errors included.
 * At most nine decimals, rounded away from zero (Q7); amounts in BinarySI are capped at ±(2^63-1) (Q6).
 * Deviation: an integer of more than 128 digits counts as 10^128. Takes linear time.
 */
export function parseQuantity(text: string): ParsedQuantity {
  if (text.length === 0) return FORMAT_ERROR;
  const scan = scanQuantity(text);
  if (scan === undefined) return FORMAT_ERROR;
  const unit = unitOfSuffix(scan.suffix);
  if (unit === undefined) return SUFFIX_ERROR;
  if (fitsShortForm(scan, unit)) return { ok: true, quantity: shortQuantity(text, scan, unit) };
  return scan.hasDigits ? { ok: true, quantity: longQuantity(scan, unit) } : NUMERIC_ERROR;
}

/** The number of a quantity in a report, as `quantityNumber`; `undefined` if it is absent or cannot be read. */
export function reportedNumber(text: string | undefined): number | undefined {
  const parsed = parseQuantity(text ?? '');
  return parsed.ok ? quantityNumber(parsed.quantity) : undefined;
}

/** Cuts the text; `undefined` if something is left over. */
function scanQuantity(text: string): NumberParts | undefined {
  const first = text.charCodeAt(0);
  const start = first === MINUS || first === PLUS ? 1 : 0;
  const integerStart = skipZeros(text, start);
  const integerEnd = skipDigits(text, integerStart);
  const hasPoint = text.charCodeAt(integerEnd) === POINT;
  const fractionStart = hasPoint ? integerEnd + 1 : integerEnd;
  const suffixStart = hasPoint ? skipDigits(text, fractionStart) : integerEnd;
  if (suffixEnd(text, suffixStart) !== text.length) return undefined;
  return {
    isNegative: first === MINUS,
    hasDigits: integerEnd > start || suffixStart > fractionStart,
    integer: integerEnd > integerStart ? text.slice(integerStart, integerEnd) : '0',
    fraction: text.slice(fractionStart, suffixStart),
    suffix: text.slice(suffixStart),
  };
}

function skipZeros(text: string, from: number): number {
  const end = text.length;
  let at = from;
  while (at < end && text.charCodeAt(at) === DIGIT_0) at++;
  return at;
}

function skipDigits(text: string, from: number): number {
  const end = text.length;
  let at = from;
  while (at < end && isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Where letters, then a sign, then digits end. Which letters make sense is decided later. */
function suffixEnd(text: string, from: number): number {
  let at = from;
  while (isSuffixLetter(text.charCodeAt(at))) at++;
  const code = text.charCodeAt(at);
  return skipDigits(text, code === MINUS || code === PLUS ? at + 1 : at);
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

function isSuffixLetter(code: number): boolean {
  return code >= 65 && 'eEinumkKMGTP'.includes(String.fromCharCode(code));
}

/**
 * The short form of Kubernetes: at most 18 digits and nine decimals, or with a binary suffix an integer whose product
 * has about 15 digits. It reads text without any digit as zero and remembers spellings.
 */
function fitsShortForm(scan: NumberParts, unit: QuantityUnit): boolean {
  const { integer, fraction } = scan;
  if (unit.base === 2) return fraction === '' && integer.length <= 14 - Math.trunc(unit.exponent * 0.3);
  return integer.length + fraction.length <= MAX_DECIMAL_DIGITS && unit.exponent - fraction.length >= SMALLEST_EXPONENT;
}

function shortQuantity(text: string, scan: NumberParts, unit: QuantityUnit): Quantity {
  const digits = scan.integer + scan.fraction;
  const { format } = unit;
  if (unit.base === 2) {
    const value = Number(digits);
    const mantissa = signed(value * 2 ** unit.exponent, scan.isNegative);
    return { mantissa, exponent: 0, format, spelling: value % 8 === 0 ? undefined : text };
  }
  const exponent = unit.exponent - scan.fraction.length;
  const mantissa = signed(digits.length < 16 ? Number(digits) : wholeFrom(BigInt(digits)), scan.isNegative);
  const isRemembered = exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
  return { mantissa, exponent, format, spelling: isRemembered ? text : undefined };
}

function longQuantity(scan: NumberParts, unit: QuantityUnit): Quantity {
  const bounded = boundedDigits(scan);
  const isBinary = unit.base === 2;
  const amount = isBinary ? binaryAmount(bounded, unit.exponent) : decimalAmount(bounded, unit.exponent);
  const kept = isBinary && compareDecimals(amount, LARGEST_BINARY) > 0 ? LARGEST_BINARY : amount;
  const format = isBinary && isBetweenZeroAndOne(amount) ? 'DecimalSI' : unit.format;
  return { mantissa: signed(kept.mantissa, scan.isNegative), exponent: kept.exponent, format, spelling: undefined };
}

/** A number as text: its digits × 10^exponent. */
interface Digits {
  readonly digits: string;
  readonly exponent: number;
}

function boundedDigits({ integer, fraction }: NumberParts): Digits {
  if (integer.length > MAX_DIGITS) return { digits: '1', exponent: MAX_DIGITS };
  const kept = fraction.length > MAX_DIGITS ? `${fraction.slice(0, MAX_DIGITS)}1` : fraction;
  return { digits: integer + kept, exponent: -kept.length };
}

function binaryAmount({ digits, exponent }: Digits, shift: number): Decimal {
  const amount = { mantissa: wholeFrom(BigInt(digits) << BigInt(shift)), exponent };
  if (exponent >= SMALLEST_EXPONENT) return amount;
  return { mantissa: roundDecimal(amount, SMALLEST_EXPONENT), exponent: SMALLEST_EXPONENT };
}

/** Rounded as text: dividing by a power of ten costs several times as much. */
function decimalAmount({ digits, exponent: own }: Digits, more: number): Decimal {
  const exponent = own + more;
  if (exponent >= SMALLEST_EXPONENT) return { mantissa: wholeFrom(BigInt(digits)), exponent };
  const end = Math.max(0, digits.length - (SMALLEST_EXPONENT - exponent));
  const rest = isZero(digits, end) ? 0n : 1n;
  return { mantissa: wholeFrom(BigInt(digits.slice(0, end)) + rest), exponent: SMALLEST_EXPONENT };
}

function isZero(digits: string, from: number): boolean {
  return skipZeros(digits, from) === digits.length;
}

function isBetweenZeroAndOne(amount: Decimal): boolean {
  return amount.mantissa !== 0 && compareDecimals(amount, ONE) < 0;
}

function signed(value: Whole, isNegative: boolean): Whole {
  return isNegative && value !== 0 ? -value : value;
}

/** The factor of a suffix: base^exponent. */
export interface QuantityUnit {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const DECIMAL_SUFFIXES: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const UNITS: ReadonlyMap<string, QuantityUnit> = new Map<string, QuantityUnit>([
  ...BINARY_SUFFIXES.slice(1).map((suffix, index) => [suffix, unit(2, index * 10 + 10, 'BinarySI')] as const),
  ...DECIMAL_SUFFIXES.map((suffix, index) => [suffix, unit(10, (index - 3) * 3, 'DecimalSI')] as const),
]);

const SMALLEST_INT64 = -(2n ** 63n);
const LARGEST_INT64 = 2n ** 63n - 1n;

/**
 * The unit of a suffix, `undefined` if there is none: `Mi`, `k`, nothing, or an exponent such as `e3`, `E-6`.
 * An exponent is read as int64 and cut to 32 bits (oddity Q4). Follows apimachinery pkg/api/resource/suffix.go.
 */
function unitOfSuffix(suffix: string): QuantityUnit | undefined {
  const known = UNITS.get(suffix);
  if (known !== undefined) return known;
  const first = suffix.charAt(0);
  if (first !== 'e' && first !== 'E') return undefined;
  const exponent = parseExponent(suffix.slice(1));
  return exponent === undefined ? undefined : unit(10, exponent, 'DecimalExponent');
}

/** The suffix that prints 10^exponent, empty if there is none (oddity Q5). */
export function decimalSuffix(exponent: number, format: QuantityFormat): string {
  if (format === 'DecimalExponent') return exponent === 0 ? '' : `e${exponent}`;
  return DECIMAL_SUFFIXES[exponent / 3 + 3] ?? '';
}

/** The suffix that prints 1024^power, empty if there is none. */
export function binarySuffix(power: number): string {
  return BINARY_SUFFIXES[power] ?? '';
}

/** Digits with an optional sign; anything else or beyond int64 is `undefined`. */
function parseExponent(text: string): number | undefined {
  const digits = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text;
  if (digits === '' || !isDigits(digits)) return undefined;
  if (digits.length < 10) return Number(text) | 0;
  const value = BigInt(digits) * (text.startsWith('-') ? -1n : 1n);
  if (value < SMALLEST_INT64 || value > LARGEST_INT64) return undefined;
  return Number(BigInt.asIntN(32, value));
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function unit(base: 2 | 10, exponent: number, format: QuantityFormat): QuantityUnit {
  return { base, exponent, format };
}
