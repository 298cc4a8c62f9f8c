import { quoteBytes } from '#shared/domain/base/texts.ts';

export type ParsedDuration =
  { readonly ok: true; readonly nanoseconds: bigint } | { readonly ok: false; readonly message: string };

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const LIMIT_NANOSECONDS = 2n ** 63n;
/** More digits than this exceed 2^63 whatever the unit. */
const WHOLE_DIGITS = 20;
/** Digits after the point that still fit 63 bits; Kubernetes ignores the rest. */
const FRACTION_DIGITS = 18;
const PART = /([0-9]*)(?:(\.)([0-9]*))?([^0-9.]*)/y;

/**
 * Reads a duration as Kubernetes writes them in settings: `30s`, `1m30s`, `.5h`, `-1us`, and a bare `0`.
 * The message of a refusal is Kubernetes' own (Go's `time.ParseDuration`).
 */
export function parseDuration(text: string): ParsedDuration {
  const isNegative = text.startsWith('-');
  const unsigned = isNegative || text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return { ok: true, nanoseconds: 0n };
  const sum = unsigned === '' ? 'invalid duration' : sumParts(unsigned);
  if (typeof sum === 'string') return refuse(sum, text);
  if (isNegative) return { ok: true, nanoseconds: -sum };
  return sum === LIMIT_NANOSECONDS ? refuse('invalid duration', text) : { ok: true, nanoseconds: sum };
}

/** A duration in seconds; beyond 104 days its nanoseconds are the nearest that a double holds. */
export function durationSeconds(nanoseconds: bigint): number {
  const short = Number(nanoseconds);
  if (Number.isSafeInteger(short)) return short / 1e9;
  return Number(nanoseconds / 1_000_000_000n) + Number(nanoseconds % 1_000_000_000n) / 1e9;
}

function refuse(fault: string, text: string): ParsedDuration {
  return { ok: false, message: `time: ${fault} ${quoteBytes(text)}` };
}

/** Nanoseconds of all number-and-unit parts together, or what is wrong with the first bad one. */
function sumParts(text: string): bigint | string {
  let sum = 0n;
  for (let at = 0; at < text.length;) {
    PART.lastIndex = at;
    const [part = '', whole = '', point, fraction = '', unit = ''] = PART.exec(text) ?? [];
    const nanoseconds = readPart(whole, point, fraction, unit);
    if (typeof nanoseconds === 'string') return nanoseconds;
    sum += nanoseconds;
    if (sum > LIMIT_NANOSECONDS) return 'invalid duration';
    at += part.length;
  }
  return sum;
}

function readPart(whole: string, point: string | undefined, fraction: string, unit: string): bigint | string {
  if (whole === '' && fraction === '') return 'invalid duration';
  const amount = readWhole(whole);
  if (amount > LIMIT_NANOSECONDS) return 'invalid duration';
  if (unit === '') return 'missing unit in duration';
  const size = UNITS.get(unit);
  if (size === undefined) return `unknown unit ${quoteBytes(unit)} in duration`;
  return amount * size + (point === undefined ? 0n : readFraction(fraction, size));
}

function readWhole(digits: string): bigint {
  const significant = digits.replace(/^0+/, '');
  return significant.length > WHOLE_DIGITS ? LIMIT_NANOSECONDS + 1n : BigInt(significant);
}

/** Kubernetes computes the part behind the point in floating point, so this does too. */
function readFraction(digits: string, size: bigint): bigint {
  const kept = digits.slice(0, FRACTION_DIGITS);
  const scale = 10 ** kept.length;
  return BigInt(Math.trunc(Number(kept) * (Number(size) / scale)));
}
