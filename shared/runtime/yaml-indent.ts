import { CST } from 'yaml';
import { yamlTokens } from './yaml-tokens.ts';

const OPENING: ReadonlySet<CST.TokenType | null> = new Set([
  'flow-map-start',
  'flow-seq-start',
  'single-quoted-scalar',
  'double-quoted-scalar',
]);
/** What braces hold: quotes, comments, braces, and texts in which a quote is a character as others. */
const INSIDE =
  /"[^"\\]*(?:\\[^][^"\\]*)*"|'[^']*(?:''[^']*)*'|(?<=\s)#.*|[{[]|[\]}]|[^\s,:[\]{}"'#](?:[^,:[\]{}\n#]|:(?![\s,[\]{}])|(?<!\s)#)*|[^]/y;
/** Lines that follow within it, but for the end of a document. */
const NEXT_LINES = /\n(?!\.\.\.\s)/g;
/** Some of those that a tab begins are refused by kubectl, too. */
const NEXT_LINES_OF_BRACES = /\n(?!\.\.\.\s| *\t)/g;
/** Of the block around it; the parser asks for one more, wherever the braces begin in their line. */
const MAX_INDENTATION = 100;

/**
 * The text with the lines inside braces, brackets and quotes indented beyond the block around them, as the parser asks:
 * Go's yaml package, and so kubectl, does not. Their meaning stays.
 */
export function indentInside(text: string): string {
  let indented = '';
  let from = 0;
  for (let inner = nextLong(text, 0); inner !== undefined; inner = nextLong(text, from)) {
    const column = inner.start - text.lastIndexOf('\n', inner.start) - 1;
    const pad = `\n${' '.repeat(Math.min(column, MAX_INDENTATION))}`;
    const lines = /["']/.test(text[inner.start] ?? '') ? NEXT_LINES : NEXT_LINES_OF_BRACES;
    indented += text.slice(from, inner.start) + text.slice(inner.start, inner.end).replace(lines, pad);
    const lineEnd = text.indexOf('\n', inner.end);
    from = lineEnd < 0 ? text.length : lineEnd + 1;
    indented += text.slice(inner.end, from);
  }
  return indented + text.slice(from);
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** The next braces or quotes that go over several lines. The lexer knows where they begin, and nothing of blocks before `from`. */
function nextLong(text: string, from: number): Extent | undefined {
  let inner: Extent | undefined;
  for (const { source, offset, isText } of yamlTokens(text.slice(from))) {
    const start = from + offset;
    if (!isText || start < (inner?.end ?? 0) || !OPENING.has(CST.tokenType(source))) continue;
    inner = extentFrom(text, start);
    if (inner === undefined || text.slice(inner.start, inner.end).includes('\n')) return inner;
  }
  return undefined;
}

/** `undefined` if it does not end. */
function extentFrom(text: string, start: number): Extent | undefined {
  INSIDE.lastIndex = start;
  let depth = 0;
  for (let found = INSIDE.exec(text); found !== null; found = INSIDE.exec(text)) {
    const [part] = found;
    if (part === '{' || part === '[') depth += 1;
    if (part === '}' || part === ']') depth -= 1;
    if (depth === 0) return part.length > 1 || start < found.index ? { start, end: INSIDE.lastIndex } : undefined;
  }
  return undefined;
}
