/** What JSON text may hold. */
export interface JsonLimits {
  /** Arrays and objects inside one another. */
  readonly depth: number;
  /** Members of objects and elements of arrays, counted by the commas between them. */
  readonly values: number;
}

export type JsonSize =
  | { readonly kind: 'within'; readonly containers: number; readonly commas: number }
  | { readonly kind: 'beyond'; readonly limit: keyof JsonLimits };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * How much JSON text holds, or which limit it exceeds; what stands in strings does not count. `JSON.parse` takes any
 * depth and any number, but what walks its result runs out of stack at a few thousand levels, and a few bytes become a
 * whole object.
 */
export function jsonSize(json: Uint8Array, limits: JsonLimits): JsonSize {
  const end = json.length;
  let depth = 0;
  let containers = 0;
  let commas = 0;
  for (let index = 0; index < end; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) {
      index = endOfString(json, index, end);
    } else if (byte === COMMA) {
      commas += 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      containers += 1;
      depth += 1;
      if (depth > limits.depth) return { kind: 'beyond', limit: 'depth' };
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return commas < limits.values ? { kind: 'within', containers, commas } : { kind: 'beyond', limit: 'values' };
}

/** The index of the quote that ends the string begun at `start`. A loop: calling `indexOf` costs more than it saves. */
function endOfString(json: Uint8Array, start: number, end: number): number {
  for (let index = start + 1; index < end; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) return index;
    if (byte === BACKSLASH) index += 1;
  }
  return end;
}
