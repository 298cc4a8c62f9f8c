import { quote } from '#shared/domain/base/texts.ts';

export type ParsedPercentage =
  /** A share of the whole as a 32-bit float, never -0; NaN if the text says so. */
  { readonly ok: true; readonly share: number } | { readonly ok: false; readonly message: string };

/** Longer texts are rejected as not a number; the kubelet would read them, but they do not occur. */
const MAX_LENGTH = 256;
const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;
const SMALLEST_EXPONENT = -149;
const SIGNIFICANT_BITS = 24;
/** Powers beyond this change no 32-bit result. */
const LARGEST_POWER = 2000;

const DECIMAL = /^([+-]?)([0-9_]*)(?:\.([0-9_]*))?(?:[eE]([+-]?[0-9][0-9_]*))?$/;
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9][0-9_]*)$/;
const INFINITE = /^[+-]?inf(?:inity)?$/i;

/**
 * Reads `10%` as the kubelet does: every trailing `%` is cut, the rest is a Go floating-point literal, rounded to
 * 32 bits and divided by 100 in 32 bits. The message of a refusal is Go's (`strconv.ParseFloat`).
 */
export function parsePercentage(text: string): ParsedPercentage {
  const number = withoutTrailingPercents(text);
  const value = number.length > MAX_LENGTH ? undefined : parseFloat32(number);
  if (value === undefined) return refuse(number, 'invalid syntax');
  if (Math.abs(value) > LARGEST_FLOAT32 && !INFINITE.test(number)) return refuse(number, 'value out of range');
  return { ok: true, share: Math.fround(value / 100) + 0 };
}

function withoutTrailingPercents(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === '%') end -= 1;
  return text.slice(0, end);
}

function refuse(number: string, fault: string): ParsedPercentage {
  return { ok: false, message: `strconv.ParseFloat: parsing ${quote(number)}: ${fault}` };
}

function parseFloat32(text: string): number | undefined {
  if (text.toLowerCase() === 'nan') return NaN;
  if (INFINITE.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal !== null) return assemble(hexadecimal, '0x', 2n);
  const decimal = DECIMAL.exec(text);
  return decimal === null ? undefined : assemble(decimal, '', 10n);
}

/** Combines sign, digits and power; undefined if digits are missing or an underscore is misplaced. */
function assemble(match: RegExpExecArray, prefix: string, base: bigint): number | undefined {
  const [text, sign = '', whole = '', fraction = '', power = '0'] = match;
  const digits = withoutUnderscores(whole + fraction);
  if (digits === '' || !areUnderscoresBetweenDigits(text)) return undefined;
  const places = withoutUnderscores(fraction).length * (prefix === '' ? 1 : 4);
  const magnitude = scale(BigInt(prefix + digits), base, Number(withoutUnderscores(power)) - places);
  return sign === '-' ? -magnitude : magnitude;
}

function withoutUnderscores(text: string): string {
  return text.replaceAll('_', '');
}

/** Go's rule: an underscore must be between two digits, or between the base prefix and a digit. */
function areUnderscoresBetweenDigits(text: string): boolean {
  const isHexadecimal = /^[+-]?0x/i.test(text);
  const stray = isHexadecimal ? /[^0-9a-fx]_|_[^0-9a-f]|_$/i : /(?:^|[^0-9])_|_[^0-9]|_$/;
  return !stray.test(text);
}

function scale(digits: bigint, base: bigint, power: number): number {
  const bounded = Math.max(-LARGEST_POWER, Math.min(LARGEST_POWER, power));
  const factor = base ** BigInt(Math.abs(bounded));
  return bounded < 0 ? nearestFloat32(digits, factor) : nearestFloat32(digits * factor, 1n);
}

/** The 32-bit float nearest to a fraction, ties to even: one rounding, where going through a double would be two. */
function nearestFloat32(numerator: bigint, denominator: bigint): number {
  if (numerator === 0n) return 0;
  const estimate = bits(numerator) - bits(denominator) - SIGNIFICANT_BITS;
  const exponent = Math.max(estimate, SMALLEST_EXPONENT);
  const shifted = exponent < 0 ? numerator << BigInt(-exponent) : numerator;
  return roundQuotient(shifted, exponent < 0 ? denominator : denominator << BigInt(exponent), exponent);
}

function roundQuotient(numerator: bigint, denominator: bigint, exponent: number): number {
  const quotient = numerator / denominator;
  if (bits(quotient) > SIGNIFICANT_BITS) return roundQuotient(numerator, denominator * 2n, exponent + 1);
  const twiceRest = (numerator % denominator) * 2n;
  const isUp = twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n);
  return Number(quotient + (isUp ? 1n : 0n)) * 2 ** exponent;
}

function bits(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

/** A percentage from 0% to 100% as a share, `undefined` for any other text. */
export function shareIn(text: string): number | undefined {
  const parsed = text.endsWith('%') ? parsePercentage(text) : undefined;
  return parsed?.ok === true && parsed.share >= 0 && parsed.share <= 1 ? parsed.share : undefined;
}
