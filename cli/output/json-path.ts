import { isRecord } from '#shared/kube/kube-object.ts';
import { compilePath, type Select } from './json-path-steps.ts';

/** A compiled template, or what is wrong with it. */
export type Compiled =
  | { readonly ok: true; readonly print: (document: unknown) => string }
  | { readonly ok: false; readonly message: string };

type Print = (node: unknown) => string;

/** What stands between `{range PATH}` and `{end}`; the template itself is the outermost one. */
interface Frame {
  readonly select: Select;
  readonly parts: Print[];
}

/** Text, or what stands between braces; a brace in a string ends nothing. */
const TOKEN = /\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|([^{}]+)|[{}]/g;
const LITERAL = /^(["'])(.*)\1$/s;
const RANGE = /^range\s+(.+)$/s;

/**
 * Compiles a template of `kubectl -o jsonpath`: text, paths, strings, `{range PATH}…{end}`. A field that is missing prints
 * nothing. `client-go/util/jsonpath`.
 */
export function compileTemplate(template: string): Compiled {
  const frames: Frame[] = [{ select: (nodes) => nodes, parts: [] }];
  for (const token of template.matchAll(TOKEN)) {
    const problem = applyToken(token, frames);
    if (problem !== undefined) return { ok: false, message: problem };
  }
  const [outermost, unclosed] = frames;
  if (unclosed !== undefined || outermost === undefined) return { ok: false, message: 'a range has no {end}' };
  return { ok: true, print: printFrame(outermost) };
}

/** Adds what a token says; gives what is wrong with it. */
function applyToken([token, action, text]: RegExpExecArray, frames: Frame[]): string | undefined {
  if (action === undefined && text === undefined) return `unexpected ${token}: expected pairs of braces`;
  const trimmed = (action ?? '').trim();
  const range = RANGE.exec(trimmed)?.[1];
  if (range !== undefined) return openFrame(frames, range);
  if (trimmed === 'end') return closeFrame(frames);
  const print = text === undefined ? compileAction(trimmed) : () => text;
  if (print === undefined) return cannotRead(trimmed);
  frames.at(-1)?.parts.push(print);
  return undefined;
}

/** A string or a path. */
function compileAction(action: string): Print | undefined {
  const literal = LITERAL.exec(action)?.[2];
  if (literal !== undefined) return () => unescaped(literal);
  const select = compilePath(action);
  return select && ((node) => select([node]).map(valueText).join(' '));
}

function openFrame(frames: Frame[], path: string): string | undefined {
  const select = compilePath(path);
  if (select === undefined) return cannotRead(path);
  frames.push({ select, parts: [] });
  return undefined;
}

function closeFrame(frames: Frame[]): string | undefined {
  const frame = frames.length > 1 ? frames.pop() : undefined;
  if (frame === undefined) return '{end} without a range';
  frames.at(-1)?.parts.push(printFrame(frame));
  return undefined;
}

function printFrame({ select, parts }: Frame): Print {
  return (node) =>
    select([node])
      .flatMap((each) => parts.map((print) => print(each)))
      .join('');
}

function cannotRead(path: string): string {
  return `cannot read the path "${path}"`;
}

/** As kubectl prints it: text as it is, objects and lists as JSON. */
function valueText(value: unknown): string {
  return isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}
