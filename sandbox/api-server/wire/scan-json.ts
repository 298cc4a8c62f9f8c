/** The findings of a pass over JSON text before it is parsed. */
export interface JsonScan {
  readonly isTooDeep: boolean;
  /** Paths of duplicate keys: `spec.nodeName`. */
  readonly duplicates: readonly string[];
}

/** JSON.parse takes any depth, but everything after it recurses. */
const DEEPEST = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

interface NestingLevel {
  /** Undefined for a list. */
  readonly keys: Set<string> | undefined;
  step: string;
  index: number;
}

/**
 * Counts nesting and finds duplicate keys, which JSON.parse hides. For invalid text the result does not matter: parsing
 * refuses it.
 */
export function scanJson(text: string): JsonScan {
  const levels: NestingLevel[] = [];
  const duplicates: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      noteKey(levels, duplicates, text, at + 1, end);
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (levels.length >= DEEPEST) return { isTooDeep: true, duplicates };
      levels.push({ keys: code === OPEN_OBJECT ? new Set() : undefined, step: '', index: 0 });
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) levels.pop();
    else if (code === COMMA) countItem(levels.at(-1));
  }
  return { isTooDeep: false, duplicates };
}

function countItem(level: NestingLevel | undefined): void {
  if (level !== undefined && level.keys === undefined) level.index += 1;
}

function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end > 0 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0;
  while (at - slashes - 1 >= from && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

/** A string before a colon is a key of the innermost object. */
function noteKey(
  levels: readonly NestingLevel[],
  duplicates: string[],
  ...[text, from, end]: [string, number, number]
): void {
  const level = levels.at(-1);
  if (level?.keys === undefined || !isBeforeColon(text, end + 1)) return;
  const key = text.slice(from, end);
  level.step = key;
  if (level.keys.has(key)) duplicates.push(pathOf(levels));
  level.keys.add(key);
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === COLON;
}

function pathOf(levels: readonly NestingLevel[]): string {
  return levels
    .map(({ keys, step, index }, at) => (keys === undefined ? `[${index}]` : at === 0 ? step : `.${step}`))
    .join('');
}
