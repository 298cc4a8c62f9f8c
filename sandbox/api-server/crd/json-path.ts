import { isFields } from '#sandbox/api-server/wire/object.ts';

/** Reads the value of a printer column's path. */
export type PathReader = (value: unknown) => unknown;

/**
 * Compiles the simple JSONPath of printer columns: `.spec.x`, `.list[0].y`, `.metadata.labels.a\.b`,
 * `.conditions[?(@.type=="Ready")].status`. Undefined for a path it does not read.
 */
export function compilePath(path: string): PathReader | undefined {
  const steps = parseSteps(path.startsWith('.') || path.startsWith('[') ? path : `.${path}`);
  if (steps === undefined) return undefined;
  return (value) => steps.reduce((place, step) => step(place), value);
}

const STEP = /^(?:\.((?:[^.[\]\\]|\\.)+)|\['([^']+)'\]|\[(\d+)\]|\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\])/;

function parseSteps(path: string): PathReader[] | undefined {
  const steps: PathReader[] = [];
  let rest = path;
  while (rest !== '' && rest !== '.') {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    steps.push(stepOf(match));
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function stepOf([, dotted, quoted, index, field, wanted]: RegExpExecArray): PathReader {
  const name = dotted?.replaceAll(/\\(.)/g, '$1') ?? quoted;
  if (name !== undefined) return (value) => (isFields(value) ? value[name] : undefined);
  if (index !== undefined) return (value) => (Array.isArray(value) ? (value[Number(index)] as unknown) : undefined);
  return (value) =>
    (Array.isArray(value)
      ? value.find((item) => isFields(item) && item[field ?? ''] === wanted)
      : undefined) as unknown;
}
