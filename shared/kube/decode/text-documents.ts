import { jsonIn } from './wire-object.ts';

/** One document of a text, and the number of lines before it. */
export interface TextDocument {
  readonly text: string;
  readonly line: number;
}

/**
 * The documents of a text as kubectl separates them: JSON objects one after another, then YAML between lines of `---`.
 * Throws if a separator line contains anything but a comment.
 */
export function* documentsIn(text: string): Generator<TextDocument> {
  let start = blankAt(text, 0);
  let line = newlinesIn(text.slice(0, start));
  for (let end = jsonEnd(text, start); end > start; end = jsonEnd(text, start)) {
    yield { text: text.slice(start, end), line };
    const separator = separatorAt(text, end);
    const next = separator === 0 ? end + blankAt(text, end) : end + separator;
    line += newlinesIn(text.slice(start, next));
    start = next;
  }
  const isOver = start === text.length && text.trimStart().startsWith('{');
  if (!isOver) yield* yamlDocuments(text.slice(start), line);
}

/** The length of the blanks before JSON there; 0 if something else comes. */
function blankAt(text: string, start: number): number {
  return /^\s*(?=\{|$)/.exec(text.slice(start))?.[0].length ?? 0;
}

/** The length of the separator line there, with the line breaks around it; 0 if there is none. */
function separatorAt(text: string, start: number): number {
  return /^ *(?:\r?\n)*---[ \t\r]*(?:\n[\r\n ]*(?=\{)|(?=\n|$))/.exec(text.slice(start))?.[0].length ?? 0;
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** Where the JSON object there ends; 0 if there is none. */
function jsonEnd(text: string, start: number): number {
  if (text.charAt(start) !== '{') return 0;
  const end = closingBrace(text, start);
  return end > 0 && jsonIn(text.slice(start, end)) !== undefined ? end : 0;
}

/** Character by character, because a regular expression runs out of stack in a text of megabytes. */
function closingBrace(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') at = closingQuote(text, at + 1);
    else if (char === '{') depth += 1;
    else if (char === '}' && (depth -= 1) === 0) return at + 1;
  }
  return 0;
}

function closingQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

const SEPARATOR = '---';

/** The text up to the next separator line. A separator before it stays with it, where it is the start of a document. */
function* yamlDocuments(text: string, linesBefore: number): Generator<TextDocument> {
  const lines = text.split('\n');
  let first = 0;
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith(SEPARATOR)) continue;
    expectSeparator(line.slice(SEPARATOR.length).trim(), linesBefore + at + 1);
    // A line may end with both characters, of which the second went with the separator.
    if (at > first) yield { text: lines.slice(first, at).join('\n').replace(/\r$/, '\n'), line: linesBefore + first };
    first = at > first ? at + 1 : first;
  }
  yield { text: lines.slice(first).join('\n'), line: linesBefore + first };
}

function expectSeparator(rest: string, line: number): void {
  if (rest !== '' && !rest.startsWith('#')) throw new Error(`line ${line}: expected only a comment after "---"`);
}
