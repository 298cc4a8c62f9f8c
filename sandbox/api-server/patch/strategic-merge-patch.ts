import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { fieldSchema } from '#sandbox/api-server/ownership/set-of-object.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';
import type { ListPatch } from './list-patch.ts';
import { mergeObjectList } from './merge-object-list.ts';
import { mergeValueList } from './merge-value-list.ts';

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
  /** The patch of the object around the field, where the directives stand. */
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
