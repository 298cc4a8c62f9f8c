import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { compareQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';

/** What the user wrote as a function that prints, or what is wrong with it. */
export type Compiled<Print> =
  { readonly ok: true; readonly print: Print } | { readonly ok: false; readonly message: string };

type Print = (node: unknown) => string;

/** The part between `{range PATH}` and `{end}`; the template itself is the outermost one. */
interface Frame {
  readonly select: Select;
  readonly parts: Print[];
}

/** Text, or an expression in braces; a brace in a string does not end it. */
const TOKEN = /\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|([^{}]+)|[{}]/g;
const LITERAL = /^(["'])(.*)\1$/s;
const RANGE = /^range\s+(.+)$/s;

/**
 * Compiles a template of `kubectl -o jsonpath`: text, paths, strings, `{range PATH}…{end}`. A missing field prints
 * nothing. `client-go/util/jsonpath`.
 */
export function compileTemplate(template: string): Compiled<Print> {
  const frames: Frame[] = [{ select: (nodes) => nodes, parts: [] }];
  for (const token of template.matchAll(TOKEN)) {
    const problem = applyToken(token, frames);
    if (problem !== undefined) return { ok: false, message: problem };
  }
  const [outermost, unclosed] = frames;
  if (unclosed !== undefined || outermost === undefined) return { ok: false, message: 'a range has no {end}' };
  return { ok: true, print: printFrame(outermost) };
}

/** Adds a token; returns what is wrong with it. */
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
export function valueText(value: unknown): string {
  return isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

type Nodes = readonly unknown[];

/** From some nodes of a document to those that a path leads to. */
export type Select = (nodes: Nodes) => Nodes;

type MakeSelect = (...groups: readonly (string | undefined)[]) => Select;

const NAME = String.raw`(?:[^.[\]\\\s()=!<>]|\\.)+`;
const TEXT = String.raw`'[^']*'|"[^"]*"`;

/** Each kind of step with the groups of its pattern. */
const STEPS: readonly (readonly [RegExp, MakeSelect])[] = [
  [
    /^\.\.(\*|[^.[\]\\\s]+)/,
    (name = '') =>
      (nodes) =>
        nodes.flatMap(descendants).flatMap(childrenOf(name)),
  ],
  [new RegExp(`^\\.(${NAME})`), (name = '') => each(childrenOf(name.replaceAll(/\\(.)/g, '$1')))],
  [/^\[\*\]/, () => each(childrenOf('*'))],
  [new RegExp(`^\\[(${TEXT})\\]`), (quoted = '') => each(fieldOf(quoted.slice(1, -1)))],
  [/^\[(-?\d+)\]/, (index) => each((node) => elementsOf(node).slice(Number(index)).slice(0, 1))],
  [/^\[(-?\d*):(-?\d*)\]/, (from, to) => each((node) => elementsOf(node).slice(Number(from), end(to)))],
  [
    new RegExp(`^\\[\\?\\(\\s*@((?:\\.${NAME})+)\\s*(?:(==|!=|<=|>=|<|>)\\s*(${TEXT}|[^\\s)]+)\\s*)?\\)\\]`),
    (path = '', operator, value) => each((node) => elementsOf(node).filter(filterFor(path, operator, value))),
  ],
];

/**
 * Compiles a path as kubectl's `--sort-by` takes it: with or without braces and the leading dot. The result returns the
 * first value found. `undefined` for an invalid path.
 */
export function compileField(path: string): ((document: unknown) => unknown) | undefined {
  const select = compileSelect(path);
  return select && ((document) => select([document])[0]);
}

/** The same with all values. */
export function compileSelect(path: string): Select | undefined {
  const bare = /^\{(.*)\}$/s.exec(path)?.[1] ?? path;
  return compilePath(/^[.[$@]/.test(bare) ? bare : `.${bare}`);
}

/** A path such as `.items[*].metadata.name`; `undefined` if it cannot be read. */
function compilePath(path: string): Select | undefined {
  const steps: Select[] = [];
  let rest = path.replace(/^[$@]/, '');
  while (rest !== '' && rest !== '.') {
    const step = firstStep(rest);
    if (step === undefined) return undefined;
    steps.push(step.select);
    rest = rest.slice(step.length);
  }
  return path === '' ? undefined : (nodes) => steps.reduce((found, select) => select(found), nodes);
}

function firstStep(rest: string): { readonly select: Select; readonly length: number } | undefined {
  for (const [pattern, make] of STEPS) {
    const match = pattern.exec(rest);
    if (match !== null) return { select: make(...match.slice(1)), length: match[0].length };
  }
  return undefined;
}

function each(select: (node: unknown) => Nodes): Select {
  return (nodes) => nodes.flatMap(select);
}

/** The field of that name, or all values of an object or a list. */
function childrenOf(name: string): (node: unknown) => Nodes {
  return name === '*' ? valuesOf : fieldOf(name);
}

function fieldOf(name: string): (node: unknown) => Nodes {
  return (node) => (isRecord(node) && Object.hasOwn(node, name) && node[name] !== undefined ? [node[name]] : []);
}

function valuesOf(node: unknown): Nodes {
  return isRecord(node) ? Object.values(node) : elementsOf(node);
}

function elementsOf(node: unknown): Nodes {
  return Array.isArray(node) ? (node as Nodes) : [];
}

/** The node itself and everything below it. */
function descendants(node: unknown): Nodes {
  return [node, ...valuesOf(node).flatMap(descendants)];
}

function end(to: string | undefined): number | undefined {
  return to === undefined || to === '' ? undefined : Number(to);
}

type Compare = (found: unknown, wanted: unknown) => boolean;

const COMPARISONS: Readonly<Record<string, Compare>> = {
  '==': (found, wanted) => found === wanted,
  '!=': (found, wanted) => found !== wanted,
  '<': (found, wanted) => Number(found) < Number(wanted),
  '>': (found, wanted) => Number(found) > Number(wanted),
  '<=': (found, wanted) => Number(found) <= Number(wanted),
  '>=': (found, wanted) => Number(found) >= Number(wanted),
};

/** Without an operator the field must exist. */
function filterFor(path: string, operator: string | undefined, value: string | undefined): (node: unknown) => boolean {
  const select = compilePath(path);
  const compare = COMPARISONS[operator ?? ''] ?? (() => true);
  const wanted = literalOf(value ?? '');
  return (node) => (select?.([node]) ?? []).some((found) => compare(found, wanted));
}

function literalOf(text: string): unknown {
  if (/^["']/.test(text)) return text.slice(1, -1);
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}

/** A field of the items of a list. */
export interface SortKey {
  /** As the user wrote it. */
  readonly path: string;
  /** `undefined` if the item has no such field. */
  readonly read: (item: unknown) => unknown;
}

const NATURAL = new Intl.Collator('en', { numeric: true });

/**
 * Orders values of a field as kubectl's `--sort-by` does: missing values first, numbers and quantities by amount, other
 * text naturally, so that `node-2` comes before `node-10`. `kubectl/pkg/cmd/get/sorter.go`.
 */
export function compareFields(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [a, b].map(amountIn);
  if (left !== undefined && right !== undefined) return compareQuantities(left, right);
  return NATURAL.compare(textOf(a), textOf(b));
}

function amountIn(value: unknown): Quantity | undefined {
  const parsed = typeof value === 'string' ? parseQuantity(value) : undefined;
  return parsed?.ok === true ? parsed.quantity : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
