import { isFields } from '#sandbox/api-server/wire/object.ts';
import { pathText, type DecodeNotes } from './decode-value.ts';
import type { Schema } from './schema.ts';

/**
 * Removes the fields that a structural schema does not know, in place, and notes their paths. Values of the wrong type
 * stay as they are: the validation that follows names them.
 */
export function pruneValue(
  schema: Schema,
  value: unknown,
  notes: DecodeNotes,
  path: readonly (string | number)[] = [],
): void {
  if (Array.isArray(value)) {
    if (schema.kind === 'list') value.forEach((item, index) => pruneValue(schema.items, item, notes, [...path, index]));
    return;
  }
  if (!isFields(value)) return;
  for (const [key, field] of Object.entries(value)) {
    const below = schemaBelow(schema, key);
    if (below !== undefined) {
      pruneValue(below, field, notes, [...path, key]);
      continue;
    }
    notes.unknown.push(pathText([...path, key]));
    Reflect.deleteProperty(value, key);
  }
}

const KEPT: Schema = { kind: 'any' };

/** Undefined for a key that is to go. */
function schemaBelow(schema: Schema, key: string): Schema | undefined {
  if (schema.kind === 'map') return schema.values;
  if (schema.kind !== 'object') return KEPT;
  return schema.fields.get(key) ?? (schema.keepsUnknown ? KEPT : undefined);
}
