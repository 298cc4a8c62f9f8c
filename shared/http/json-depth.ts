const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Whether arrays and objects in JSON text are nested deeper than `limit`; brackets inside strings do not count.
 * `JSON.parse` takes any depth, but what walks its result recursively runs out of stack at a few thousand.
 */
export function isDeeperThan(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) index = endOfString(json, index);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** The index of the quote that ends the string begun at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end < 0 ? json.length : end;
}

/** A quote is escaped by an odd number of backslashes before it. */
function isEscaped(json: Uint8Array, quote: number): boolean {
  let first = quote;
  while (json[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
