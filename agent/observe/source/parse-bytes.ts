/**
 * Parsers for the kernel's text files that work on bytes in place: the hot path creates no strings. Any deviation from
 * the kernel's format becomes NaN, which callers treat as unknown.
 */
const NEWLINE = 10;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const EQUALS = 61;
/** 20 digits hold any unsigned 64-bit number. */
const MAX_DIGITS = 20;
const MAX_WORD = [109, 97, 120] as const;

/** The byte at `index`, or -1 beyond the end. */
function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? -1;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** The unsigned decimal that starts at `start` and ends at white space or `end`; NaN for anything else. */
export function parseInteger(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let at = start;
  while (at < end && isDigit(byteAt(bytes, at))) {
    value = value * 10 + (byteAt(bytes, at) - ZERO);
    at += 1;
  }
  const digits = at - start;
  const isEnded = at === end || byteAt(bytes, at) === NEWLINE || byteAt(bytes, at) === SPACE;
  return digits > 0 && digits <= MAX_DIGITS && isEnded ? value : Number.NaN;
}

/** A file that holds one number and nothing else; `max` is Infinity, anything odd is NaN. */
export function parseSingleValue(bytes: Uint8Array, length: number): number {
  const end = length > 0 && byteAt(bytes, length - 1) === NEWLINE ? length - 1 : length;
  if (end === 3 && MAX_WORD.every((byte, index) => byteAt(bytes, index) === byte)) return Number.POSITIVE_INFINITY;
  for (let at = 0; at < end; at += 1) if (!isDigit(byteAt(bytes, at))) return Number.NaN;
  return parseInteger(bytes, 0, end);
}

/** Where the next line starts. */
export function nextLine(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  while (at < length && byteAt(bytes, at) !== NEWLINE) at += 1;
  return at + 1;
}

/** Whether the line at `start` begins with the key and a space or colon. */
function lineHasKey(bytes: Uint8Array, start: number, key: Uint8Array): boolean {
  if (bytes[start] !== key[0]) return false;
  const end = byteAt(bytes, start + key.length);
  if (end !== SPACE && end !== COLON) return false;
  for (let index = 1; index < key.length; index += 1) if (bytes[start + index] !== key[index]) return false;
  return true;
}

function findKey(bytes: Uint8Array, start: number, keys: readonly Uint8Array[]): number {
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index];
    if (key !== undefined && lineHasKey(bytes, start, key)) return index;
  }
  return -1;
}

/** The first byte of the value after a key; skips colons and spaces. */
function valueStart(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  while (at < length && (byteAt(bytes, at) === SPACE || byteAt(bytes, at) === COLON)) at += 1;
  return at;
}

/**
 * Fills `values[i]` with the number after `keys[i]` in a file of `key value` or `key: value` lines; NaN if the key is
 * missing. The scan ends as soon as it has seen every key.
 */
export function scanFields(bytes: Uint8Array, length: number, keys: readonly Uint8Array[], values: Float64Array): void {
  values.fill(Number.NaN);
  let missing = keys.length;
  let at = 0;
  while (at < length && missing > 0) {
    const index = findKey(bytes, at, keys);
    if (index >= 0) {
      const start = valueStart(bytes, at + (keys[index]?.length ?? 0), length);
      values[index] = parseInteger(bytes, start, length);
      missing -= 1;
    }
    at = nextLine(bytes, at, length);
  }
}

/** The `total` of each line of a pressure file, in microseconds; NaN if the line is missing. */
export interface StallTotals {
  some: number;
  full: number;
}

const SOME_LINE = 115;
const FULL_LINE = 102;
const TOTAL = [116, 111, 116, 97, 108] as const;

/** Fills the totals from a pressure file, whose lines end in `total=NUMBER`. */
export function scanStalls(bytes: Uint8Array, length: number, totals: StallTotals): void {
  totals.some = Number.NaN;
  totals.full = Number.NaN;
  for (let at = 0; at < length;) {
    const next = nextLine(bytes, at, length);
    const first = byteAt(bytes, at);
    if (first === SOME_LINE) totals.some = totalOf(bytes, at, next - 1);
    if (first === FULL_LINE) totals.full = totalOf(bytes, at, next - 1);
    at = next;
  }
}

/** The number after the last equals sign of the line from `start` to `end`, if its key is `total`. */
function totalOf(bytes: Uint8Array, start: number, end: number): number {
  let at = end - 1;
  while (at > start && byteAt(bytes, at) !== EQUALS) at -= 1;
  for (let index = 0; index < TOTAL.length; index += 1)
    if (byteAt(bytes, at - TOTAL.length + index) !== TOTAL[index]) return Number.NaN;
  return parseInteger(bytes, at + 1, end);
}
