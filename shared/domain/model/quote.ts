const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** A text in quotes as the kubelet's messages print it (Go's `%q`): printable characters stand for themselves. */
export function quote(text: string): string {
  return `"${Array.from(text, quoteCharacter).join('')}"`;
}

/** The same for durations, where Go spells all but plain ASCII as bytes (`time.quote`). */
export function quoteBytes(text: string): string {
  return `"${Array.from(text, quoteAsBytes).join('')}"`;
}

function quoteAsBytes(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (character >= ' ' && character < '\u0080') return character;
  return Array.from(new TextEncoder().encode(character), (byte) => `\\x${hex(byte, 2)}`).join('');
}

function quoteCharacter(character: string): string {
  const escape = ESCAPES.get(character);
  if (escape !== undefined) return escape;
  return PRINTABLE.test(character) ? character : quoteCodePoint(character.codePointAt(0) ?? 0);
}

function quoteCodePoint(code: number): string {
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
