import jsonPatch, { type Operation } from 'fast-json-patch';
import { copyOf, isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { statusError } from '#sandbox/api-server/errors/status-error.ts';
import { fieldSchema } from '#sandbox/api-server/ownership/set-of-object.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';

/** More operations than this are refused, as by the real server. */
const MAX_OPERATIONS = 10_000;

/**
 * RFC 6902. The target is not changed. Throws 400 for an invalid patch, 413 for too many operations, 422 for an
 * operation that cannot be applied.
 */
export function applyJsonPatch<T>(target: T, patch: unknown): T {
  if (!Array.isArray(patch))
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MAX_OPERATIONS) throw tooManyOperations(patch.length);
  try {
    return jsonPatch.applyPatch(copyOf(target), patch as Operation[], true, true, true).newDocument;
  } catch (error) {
    throw unprocessable(error);
  }
}

function tooManyOperations(count: number): Error {
  const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${count}`;
  return statusError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** The library's message includes the whole document after the first line. */
function unprocessable(error: unknown): Error {
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  return statusError({
    code: 422,
    reason: 'Invalid',
    message: `the server rejected our request due to an error in our request: ${message}`,
  });
}

/** RFC 7386: fields of the patch win, null removes, lists are replaced. Neither argument is changed. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else result[name] = applyMergePatch(result[name], value);
  }
  return result;
}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ELEMENT_ORDER = '$setElementOrder/';
const DELETE_VALUES = '$deleteFromPrimitiveList/';

/**
 * Strategic merge patch: like a merge patch, but lists with a merge key are merged item by item, and `$` directives
 * replace, delete and order. apimachinery `pkg/util/strategicpatch`. Neither argument is changed.
 */
export function applyStrategicMergePatch(schema: Schema, target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  if (patch[DIRECTIVE] === 'replace') return withoutDirective(patch);
  if (patch[DIRECTIVE] === 'delete') return {};
  return mergeFields(schema, isFields(target) ? target : {}, patch);
}

function withoutDirective(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([name]) => name !== DIRECTIVE));
}

function mergeFields(schema: Schema, target: Fields, patch: Fields): Fields {
  const result = retainedFields(target, patch);
  for (const name of patchedNames(patch)) {
    const value = patch[name];
    if (value === null) Reflect.deleteProperty(result, name);
    else mergeField({ schema: fieldSchema(schema, name), name, patch }, result);
  }
  return result;
}

/** `$retainKeys` lists the fields that may stay; a union such as a volume's source needs it. */
function retainedFields(target: Fields, patch: Fields): Fields {
  const retained = patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([name]) => retained.includes(name)));
}

/** Ordinary fields, and fields that occur only in a directive about their list. */
function patchedNames(patch: Fields): Set<string> {
  const names = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (key === DIRECTIVE || key === RETAIN_KEYS) continue;
    if (key.startsWith(ELEMENT_ORDER)) names.add(key.slice(ELEMENT_ORDER.length));
    else if (key.startsWith(DELETE_VALUES)) names.add(key.slice(DELETE_VALUES.length));
    else names.add(key);
  }
  return names;
}

interface PatchedField {
  readonly schema: Schema;
  readonly name: string;
  /** The patch of the parent object, which contains the directives. */
  readonly patch: Fields;
}

function mergeField({ schema, name, patch }: PatchedField, result: Fields): void {
  const value = patch[name];
  if (schema.kind === 'list' && schema.patchStrategy.includes('merge')) {
    result[name] = mergeList(schema, listOf(result[name]), {
      items: listOf(value),
      order: patch[`${ELEMENT_ORDER}${name}`],
      deleted: patch[`${DELETE_VALUES}${name}`],
    });
    return;
  }
  if (!(name in patch)) return;
  const isReplaced = schema.kind === 'object' && schema.patchStrategy === 'replace';
  result[name] = isReplaced ? value : applyStrategicMergePatch(schema, result[name], value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function mergeList(schema: ListSchema, target: readonly unknown[], patch: ListPatch): unknown[] {
  if (schema.patchMergeKey === '') return mergeValueList(target, patch);
  const merge = (item: unknown, change: unknown): unknown => applyStrategicMergePatch(schema.items, item, change);
  return mergeObjectList(schema.patchMergeKey, target, patch, merge);
}

type Merge = (item: unknown, change: unknown) => unknown;

/**
 * Merges a list of objects by a key field: known items are merged, new ones added, `$patch: delete` removes one,
 * `$patch: replace` anywhere replaces the whole list. Throws 400 for an item without the key.
 */
function mergeObjectList(key: string, target: readonly unknown[], patch: ListPatch, merge: Merge): unknown[] {
  if (patch.items.some((item) => directive(item) === 'replace'))
    return patch.items.filter((item) => directive(item) === undefined);
  const result = [...target];
  for (const change of patch.items) mergeItem(key, result, change, merge);
  return Array.isArray(patch.order)
    ? inOrder(
        result,
        patch.order.map((item) => keyValue(key, item)),
        (item) => keyValue(key, item),
      )
    : result;
}

function mergeItem(key: string, items: unknown[], change: unknown, merge: Merge): void {
  const value = keyValue(key, change);
  if (value === undefined)
    throw badRequest(`map: ${JSON.stringify(change)} does not contain declared merge key: ${key}`);
  const at = items.findIndex((item) => keyValue(key, item) === value);
  if (directive(change) === 'delete') {
    if (at >= 0) items.splice(at, 1);
  } else if (at < 0) {
    items.push(merge({}, change));
  } else {
    items[at] = merge(items[at], change);
  }
}

function keyValue(key: string, item: unknown): unknown {
  return isFields(item) ? item[key] : undefined;
}

function directive(item: unknown): unknown {
  return isFields(item) ? item['$patch'] : undefined;
}

/** Merges a list of plain values as a set: additions at the end, deletions, then the order asked for. */
function mergeValueList(target: readonly unknown[], { items, order, deleted }: ListPatch): unknown[] {
  const gone = new Set(Array.isArray(deleted) ? deleted : []);
  const merged = Array.from(new Set([...target, ...items])).filter((value) => !gone.has(value));
  return Array.isArray(order) ? inOrder(merged, order, (value) => value) : merged;
}

/**
 * Sorts the items named in `order`, using the positions of such items or the end; the others keep their places before
 * them.
 */
function inOrder<T>(items: readonly T[], order: readonly unknown[], keyOf: (item: T) => unknown): T[] {
  const rank = new Map(order.map((key, index) => [key, index]));
  const named = items.filter((item) => rank.has(keyOf(item)));
  named.sort((a, b) => (rank.get(keyOf(a)) ?? 0) - (rank.get(keyOf(b)) ?? 0));
  const queue = named.values();
  return items.map((item) => (rank.has(keyOf(item)) ? (queue.next().value ?? item) : item));
}

/** What a strategic merge patch says about one list. */
export interface ListPatch {
  readonly items: readonly unknown[];
  /** `$setElementOrder/NAME`: values, or objects that hold only the merge key. */
  readonly order: unknown;
  /** `$deleteFromPrimitiveList/NAME`. */
  readonly deleted: unknown;
}
