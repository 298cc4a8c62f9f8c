import { isRecord } from '#shared/kube/kube-object.ts';

type Nodes = readonly unknown[];

/** From some nodes of a document to those that a path leads to. */
export type Select = (nodes: Nodes) => Nodes;

type Make = (...groups: readonly (string | undefined)[]) => Select;

const NAME = String.raw`(?:[^.[\]\\\s()=!<>]|\\.)+`;
const TEXT = String.raw`'[^']*'|"[^"]*"`;

/** Each kind of step with the groups of its pattern. */
const STEPS: readonly (readonly [RegExp, Make])[] = [
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

/** A path such as `.items[*].metadata.name`; `undefined` where it cannot be read. */
export function compilePath(path: string): Select | undefined {
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

/** Without an operator the field must be there. */
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
