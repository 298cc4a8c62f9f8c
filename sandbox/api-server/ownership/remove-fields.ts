import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';
import { isEmptySet, type FieldSet } from './field-set.ts';
import { itemStep } from './list-keys.ts';
import { fieldSchema } from './set-of-object.ts';

/** A value without the fields of a set. A member with children loses the children; it goes when nothing is left of it. */
export function removeFields(schema: Schema, value: unknown, gone: FieldSet): unknown {
  if (isEmptySet(gone)) return value;
  if (isFields(value)) return removeFromFields(schema, value, gone);
  if (Array.isArray(value) && schema.kind === 'list') return removeFromList(schema, value, gone);
  return value;
}

function removeFromFields(schema: Schema, value: Fields, gone: FieldSet): Fields {
  const rest: Fields = {};
  for (const [name, field] of Object.entries(value)) {
    const below = gone.children.get(`f:${name}`);
    if (below === undefined) {
      rest[name] = field;
      continue;
    }
    const left = removeBelow(fieldSchema(schema, name), field, below);
    if (left !== undefined) rest[name] = left;
  }
  return rest;
}

function removeFromList(schema: ListSchema, items: readonly unknown[], gone: FieldSet): unknown[] {
  const rest: unknown[] = [];
  for (const item of items) {
    const below = gone.children.get(itemStep(schema, item));
    const left = below === undefined ? item : removeBelow(schema.items, item, below);
    if (left !== undefined) rest.push(left);
  }
  return rest;
}

/** A leaf goes whole; what had children goes when only its keys are left. */
function removeBelow(schema: Schema, value: unknown, gone: FieldSet): unknown {
  if (gone.isMember) return undefined;
  const left = removeFields(schema, value, gone);
  return isHollow(left) && !isHollow(value) ? undefined : left;
}

function isHollow(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isFields(value) && Object.keys(value).length === 0;
}
