import { isDeepStrictEqual } from 'node:util';
import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';
import { NO_FIELDS, ONE_FIELD, isEmptySet, type FieldSet, itemStep } from './field-set.ts';
import { fieldSchema, isAtomic, setOfValue, UNOWNED, withoutUnowned } from './set-of-object.ts';

/** The differences between the fields of two states of an object. */
export interface ChangedFields {
  /** Added or of another value. */
  readonly set: FieldSet;
  readonly removed: FieldSet;
}

const UNCHANGED: ChangedFields = { set: NO_FIELDS, removed: NO_FIELDS };

/** Compares two states of one object, field by field as the schema divides it. */
export function changedFields(schema: Schema, before: object, after: object): ChangedFields {
  return compareFields(schema, ownable(before), ownable(after));
}

function ownable(object: object): Fields {
  const entries = Object.entries(object as Fields).filter(([name]) => !UNOWNED.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === 'metadata' ? withoutUnowned(value) : value]),
  );
}

function compareValues(schema: Schema, before: unknown, after: unknown): ChangedFields {
  if (before === after || isDeepStrictEqual(before, after)) return UNCHANGED;
  if (isFields(before) && isFields(after) && !isAtomic(schema)) return compareFields(schema, before, after);
  if (Array.isArray(before) && Array.isArray(after) && schema.kind === 'list' && schema.listType !== 'atomic') {
    return compareItems(schema, before, after);
  }
  return { set: ONE_FIELD, removed: NO_FIELDS };
}

function compareFields(schema: Schema, before: Fields, after: Fields): ChangedFields {
  const changes = new Changes();
  for (const name of Object.keys(after)) {
    const below = fieldSchema(schema, name);
    const step = `f:${name}`;
    if (before[name] === undefined) changes.added(step, setOf(below, after[name]));
    else changes.changed(step, compareValues(below, before[name], after[name]));
  }
  for (const name of Object.keys(before)) {
    if (after[name] === undefined) changes.gone(`f:${name}`, setOf(fieldSchema(schema, name), before[name]));
  }
  return changes.result();
}

function compareItems(schema: ListSchema, before: readonly unknown[], after: readonly unknown[]): ChangedFields {
  const changes = new Changes();
  const known = new Map(before.map((item) => [itemStep(schema, item), item]));
  for (const item of after) {
    const step = itemStep(schema, item);
    if (known.has(step)) changes.changed(step, compareValues(schema.items, known.get(step), item));
    else changes.added(step, asMember(setOf(schema.items, item)));
    known.delete(step);
  }
  for (const [step, item] of known) changes.gone(step, asMember(setOf(schema.items, item)));
  return changes.result();
}

function setOf(schema: Schema, value: unknown): FieldSet {
  return setOfValue(schema, value, { marksContainers: true, isAlwaysThere: false });
}

function asMember({ children }: FieldSet): FieldSet {
  return { isMember: true, children };
}

/** Collects the differences below one path. */
class Changes {
  readonly #set = new Map<string, FieldSet>();
  readonly #removed = new Map<string, FieldSet>();

  added(step: string, set: FieldSet): void {
    this.#set.set(step, set);
  }

  gone(step: string, set: FieldSet): void {
    this.#removed.set(step, set);
  }

  changed(step: string, { set, removed }: ChangedFields): void {
    if (!isEmptySet(set)) this.#set.set(step, set);
    if (!isEmptySet(removed)) this.#removed.set(step, removed);
  }

  result(): ChangedFields {
    return { set: { isMember: false, children: this.#set }, removed: { isMember: false, children: this.#removed } };
  }
}
