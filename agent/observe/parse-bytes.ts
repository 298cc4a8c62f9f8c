/**
 * Parsers for the kernel's text files that work on bytes in place: no string is made on the hot path.
 * Whatever is not exactly what the kernel writes becomes NaN, which callers treat as unknown (B-37).
 */
const NEWLINE = 10;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const EQUALS = 61;
const POINT = 46;
/** 20 digits hold any unsigned 64-bit number. */
const MOST_DIGITS = 20;
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
  return digits > 0 && digits <= MOST_DIGITS && isEnded ? value : Number.NaN;
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

/** The first byte of the value behind a key: colons and spaces are skipped. */
function valueStart(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  while (at < length && (byteAt(bytes, at) === SPACE || byteAt(bytes, at) === COLON)) at += 1;
  return at;
}

/**
 * Fills `values[i]` with the number behind `keys[i]` in a file of `key value` or `key: value` lines; NaN where the
 * key is not there. The scan ends as soon as every key was seen.
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

/** The decimal with point that starts at `start`: `12.34`; NaN when no digit is there. */
function parseDecimal(bytes: Uint8Array, start: number, length: number): number {
  let value = 0;
  let scale = 0;
  let at = start;
  for (; at < length; at += 1) {
    const byte = byteAt(bytes, at);
    if (byte === POINT) scale = 1;
    else if (!isDigit(byte)) break;
    else {
      value = value * 10 + (byte - ZERO);
      scale *= 10;
    }
  }
  return at === start ? Number.NaN : value / Math.max(scale, 1);
}

/** Numbers in one pressure line: avg10, avg60, avg300 (percent) and total (microseconds). */
export const STALL_NUMBERS = 4;

/** Fills the four numbers of one line; `values` is a view on this line's part of the answer. */
function scanStallLine(bytes: Uint8Array, start: number, length: number, values: Float64Array): void {
  let field = 0;
  for (let at = start; at < length && byteAt(bytes, at) !== NEWLINE; at += 1) {
    if (byteAt(bytes, at) !== EQUALS || field === STALL_NUMBERS) continue;
    values[field] = parseDecimal(bytes, at + 1, length);
    field += 1;
  }
}

const SOME_LINE = 115;
const FULL_LINE = 102;

/** Fills `some` and `full` from a pressure file; a line that is not there stays NaN. */
export function scanStalls(bytes: Uint8Array, length: number, some: Float64Array, full: Float64Array): void {
  some.fill(Number.NaN);
  full.fill(Number.NaN);
  for (let at = 0; at < length; at = nextLine(bytes, at, length)) {
    const first = byteAt(bytes, at);
    if (first === SOME_LINE) scanStallLine(bytes, at, length, some);
    if (first === FULL_LINE) scanStallLine(bytes, at, length, full);
  }
}
