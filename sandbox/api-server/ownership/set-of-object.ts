import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { ANY, type ListSchema, type Schema } from '#sandbox/api-server/schema/schema.ts';
import { NO_FIELDS, ONE_FIELD, type FieldSet, itemStep } from './field-set.ts';

/** Fields without an owner: the server's own and the object's identity. */
export const UNOWNED = new Set(['apiVersion', 'kind']);
const UNOWNED_METADATA = new Set([
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
]);

/**
 * The fields an object sets. `marksContainers` also marks maps and records that hold something (the `.` of FieldsV1),
 * which an update does and an apply does not.
 */
export function setOfObject(schema: Schema, object: object, marksContainers: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [name, value] of Object.entries(object as Fields)) {
    if (UNOWNED.has(name)) continue;
    const owned = name === 'metadata' ? withoutUnowned(value) : value;
    const set = setOfTopField(fieldSchema(schema, name), owned, marksContainers);
    if (set.isMember || set.children.size > 0) children.set(`f:${name}`, set);
  }
  return { isMember: false, children };
}

/** The metadata that can have an owner. */
export function withoutUnowned(metadata: unknown): Fields {
  return Object.fromEntries(Object.entries(metadata as Fields).filter(([name]) => !UNOWNED_METADATA.has(name)));
}

/** `spec`, `status` and `metadata` of built-in kinds are always there, so they have no owner as such. */
function setOfTopField(schema: Schema, value: unknown, marksContainers: boolean): FieldSet {
  if (isFields(value) && Object.keys(value).length === 0) return NO_FIELDS;
  const set = setOfValue(schema, value, {
    marksContainers,
    isAlwaysThere: schema.kind === 'object' && schema.name !== '',
  });
  return set;
}

/** What counts as a member in addition to leaves. */
export interface Marks {
  readonly marksContainers: boolean;
  /** The field is part of the type's empty form, so that setting something in it does not create it. */
  readonly isAlwaysThere: boolean;
}

/** The fields that a value sets below its own path. */
export function setOfValue(schema: Schema, value: unknown, marks: Marks): FieldSet {
  if (isFields(value)) return setOfFields(schema, value, marks);
  if (Array.isArray(value) && schema.kind === 'list' && schema.listType !== 'atomic')
    return setOfList(schema, value, marks);
  return ONE_FIELD;
}

function setOfFields(schema: Schema, value: Fields, { marksContainers, isAlwaysThere }: Marks): FieldSet {
  const names = Object.keys(value);
  if (names.length === 0 || isAtomic(schema)) return ONE_FIELD;
  const children = new Map<string, FieldSet>();
  for (const name of names) {
    const isRequired = schema.kind === 'object' && schema.required.has(name);
    children.set(
      `f:${name}`,
      setOfValue(fieldSchema(schema, name), value[name], { marksContainers, isAlwaysThere: isRequired }),
    );
  }
  return { isMember: marksContainers && !isAlwaysThere, children };
}

function setOfList(schema: ListSchema, items: readonly unknown[], { marksContainers, isAlwaysThere }: Marks): FieldSet {
  if (items.length === 0) return ONE_FIELD;
  const children = new Map<string, FieldSet>();
  for (const item of items) {
    const below = setOfValue(schema.items, item, { marksContainers, isAlwaysThere: false });
    children.set(itemStep(schema, item), { isMember: true, children: below.children });
  }
  return { isMember: marksContainers && !isAlwaysThere, children };
}

/** Whether one owner owns the whole value. */
export function isAtomic(schema: Schema): boolean {
  return (schema.kind === 'object' || schema.kind === 'map') && schema.isAtomic;
}

/** The schema of a field; without one, any JSON. */
export function fieldSchema(schema: Schema, name: string): Schema {
  if (schema.kind === 'object') return schema.fields.get(name) ?? ANY;
  return schema.kind === 'map' ? schema.values : ANY;
}
