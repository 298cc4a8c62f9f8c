import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { isEqual } from '#sandbox/api-server/wire/equal.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';
import { NO_FIELDS, ONE_FIELD, intersect, isEmptySet, subtract, unite, type FieldSet } from './field-set.ts';
import { itemStep } from './list-keys.ts';
import { fieldSchema, isAtomic, setOfObject } from './set-of-object.ts';

/** What became of the fields between two states of an object. */
export interface ChangedFields {
  /** Added or of another value. */
  readonly set: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two states of one object, field by field as the schema divides it. */
export function changedFields(schema: Schema, before: object, after: object): ChangedFields {
  const had = setOfObject(schema, before, true);
  const has = setOfObject(schema, after, true);
  const altered = intersect(has, differing(schema, before, after));
  return { set: unite(subtract(has, had), altered), removed: subtract(had, has) };
}

/** The paths, in both states, whose values differ. */
function differing(schema: Schema, before: unknown, after: unknown): FieldSet {
  if (before === after || isEqual(before, after)) return NO_FIELDS;
  if (isFields(before) && isFields(after) && !isAtomic(schema)) return differingFields(schema, before, after);
  if (Array.isArray(before) && Array.isArray(after) && schema.kind === 'list' && schema.listType !== 'atomic') {
    return differingItems(schema, before, after);
  }
  return ONE_FIELD;
}

function differingFields(schema: Schema, before: Fields, after: Fields): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const name of Object.keys(after)) {
    if (!(name in before)) continue;
    const below = differing(fieldSchema(schema, name), before[name], after[name]);
    if (!isEmptySet(below)) children.set(`f:${name}`, below);
  }
  return { isMember: Object.keys(before).length === 0 || Object.keys(after).length === 0, children };
}

function differingItems(schema: ListSchema, before: readonly unknown[], after: readonly unknown[]): FieldSet {
  const known = new Map(before.map((item) => [itemStep(schema, item), item]));
  const children = new Map<string, FieldSet>();
  for (const item of after) {
    const step = itemStep(schema, item);
    if (!known.has(step)) continue;
    const below = differing(schema.items, known.get(step), item);
    if (!isEmptySet(below)) children.set(step, below);
  }
  return { isMember: false, children };
}
