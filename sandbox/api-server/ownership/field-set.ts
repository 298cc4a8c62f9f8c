import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import type { ListSchema } from '#sandbox/api-server/schema/schema.ts';

/**
 * A set of field paths as a trie. Steps are spelled as FieldsV1 spells them: `f:name`, `k:{"name":"c"}`, `v:"x"`.
 * structured-merge-diff `fieldpath.Set`.
 */
export interface FieldSet {
  /** The path that ends here belongs to the set. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const NO_FIELDS: FieldSet = { isMember: false, children: new Map() };
export const ONE_FIELD: FieldSet = { isMember: true, children: new Map() };

/** Whether no path belongs to the set. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

/** All paths of both. */
export function unite(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const children = new Map(a.children);
  for (const [step, child] of b.children) children.set(step, unite(children.get(step) ?? NO_FIELDS, child));
  return { isMember: a.isMember || b.isMember, children };
}

/** The paths of `a` that are not in `b`. */
export function subtract(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && !inB);
}

/** The paths of `a` that are also in `b`. */
export function intersect(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && inB);
}

function combine(a: FieldSet, b: FieldSet, keep: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const result = combine(child, b.children.get(step) ?? NO_FIELDS, keep);
    if (!isEmptySet(result)) children.set(step, result);
  }
  return { isMember: keep(a.isMember, b.isMember), children };
}

/** The set with every path above one of its paths: an owner of something below a field also holds the field. */
export function withParents(set: FieldSet): FieldSet {
  if (set.children.size === 0) return set;
  return { isMember: true, children: new Map(Array.from(set.children, ([step, child]) => [step, withParents(child)])) };
}

/** Every path, as the steps that lead to it. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): (readonly string[])[] {
  const own = set.isMember ? [prefix] : [];
  const below = Array.from(set.children, ([step, child]) => pathsOf(child, [...prefix, step]));
  return [...own, ...below.flat()];
}

/** `.spec.containers[name="c"].image`: a path as conflict messages spell it. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join('');
}

function stepText(step: string): string {
  const value = step.slice(2);
  if (step.startsWith('f:')) return `.${value}`;
  if (step.startsWith('v:')) return `[=${value}]`;
  const keys = Object.entries(JSON.parse(value) as Fields).map(([key, part]) => `${key}=${JSON.stringify(part)}`);
  return `[${keys.join(',')}]`;
}

/** The set as `fieldsV1` of a managedFields entry. */
export function encodeFields(set: FieldSet): Fields {
  const fields: Fields = {};
  if (set.isMember && set.children.size > 0) fields['.'] = {};
  for (const step of Array.from(set.children.keys()).sort())
    fields[step] = encodeFields(set.children.get(step) ?? NO_FIELDS);
  return fields;
}

/** Reads `fieldsV1`; anything that is not a trie counts as empty. */
export function decodeFields(fields: unknown): FieldSet {
  if (!isFields(fields)) return NO_FIELDS;
  return { isMember: false, children: decodeChildren(fields) };
}

function decodeChildren(fields: Fields): Map<string, FieldSet> {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of Object.entries(fields)) {
    if (step === '.' || !isFields(child)) continue;
    const below = decodeChildren(child);
    children.set(step, { isMember: below.size === 0 || '.' in child, children: below });
  }
  return children;
}

/** Whether `fieldsV1` has any step of a set; cheaper than reading it whole. */
export function touches(fields: unknown, set: FieldSet): boolean {
  if (!isFields(fields)) return false;
  for (const [step, child] of set.children) {
    if (!Object.hasOwn(fields, step)) continue;
    if (child.isMember || touches(fields[step], child)) return true;
  }
  return false;
}

/** The step that names an item of an associative list: `k:{"name":"c"}` or, in a set, `v:"x"`. */
export function itemStep(schema: ListSchema, item: unknown): string {
  if (schema.listType === 'set' || !isFields(item)) return `v:${JSON.stringify(item)}`;
  return `k:${JSON.stringify(itemKey(schema, item))}`;
}

/** The key fields of an item in the order of their names, absent ones as their default. */
export function itemKey(schema: ListSchema, item: Fields): Fields {
  const key: Fields = {};
  for (const name of [...schema.mapKeys].sort()) key[name] = item[name] ?? schema.keyDefaults[name] ?? '';
  return key;
}
