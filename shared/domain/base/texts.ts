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

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * How long ago a time in milliseconds was, as kubectl prints ages; `<unknown>` without a time. A time after `now`, from
 * a clock that is ahead, counts as `now`.
 */
export function ageText(at: number | undefined, now: number): string {
  return at === undefined || Number.isNaN(at) ? '<unknown>' : durationText(Math.floor((now - at) / 1000));
}

/** Seconds as people read them, the longer the coarser: `3d4h`, `5m`; never below `0s`. `apimachinery/pkg/util/duration`. */
export function durationText(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(Math.floor(seconds / MINUTE), 60, 'h', 'm');
  return longDurationText(seconds);
}

function longDurationText(seconds: number): string {
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(Math.floor(seconds / HOUR), 24, 'd', 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  return seconds < 8 * YEAR ? two(Math.floor(seconds / DAY), 365, 'y', 'd') : `${Math.floor(seconds / YEAR)}y`;
}

function two(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return rest === 0 ? `${Math.floor(value / size)}${large}` : `${Math.floor(value / size)}${large}${rest}${small}`;
}

/** Orders texts by code units, the same on every machine. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Orders by name. */
export function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return compareTexts(left.name, right.name);
}

/** `namespace/name`. */
export function podName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** The parts of a `podName`. */
export function podNamed(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}
