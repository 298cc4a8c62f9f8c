import type { QuantityFormat } from './quantity.ts';

/** What a suffix multiplies by: base^exponent. */
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
export function unitOfSuffix(suffix: string): QuantityUnit | undefined {
  const known = UNITS.get(suffix);
  if (known !== undefined) return known;
  const first = suffix.charAt(0);
  if (first !== 'e' && first !== 'E') return undefined;
  const exponent = parseExponent(suffix.slice(1));
  return exponent === undefined ? undefined : unit(10, exponent, 'DecimalExponent');
}

/** The suffix that prints 10^exponent, empty where there is none (oddity Q5). */
export function decimalSuffix(exponent: number, format: QuantityFormat): string {
  if (format === 'DecimalExponent') return exponent === 0 ? '' : `e${exponent}`;
  return DECIMAL_SUFFIXES[exponent / 3 + 3] ?? '';
}

/** The suffix that prints 1024^power, empty where there is none. */
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
