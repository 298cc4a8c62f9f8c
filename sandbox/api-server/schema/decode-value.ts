import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { pathText, wrongType, type Cursor, type DecodeNotes } from './cursor.ts';
import { decodeScalar } from './decode-scalar.ts';
import type { ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts';

/**
 * Checks a JSON value against the schema, in place: nulls and unknown fields are removed, quantities become canonical.
 * Returns what stands in the value's place. Throws DecodeError for a value of the wrong type.
 */
export function decodeValue(schema: Schema, value: unknown, notes: DecodeNotes): unknown {
  return decodeAny(schema, value, { path: [], struct: '', notes });
}

function decodeAny(schema: Schema, value: unknown, cursor: Cursor): unknown {
  switch (schema.kind) {
    case 'any':
      return value;
    case 'scalar':
      return decodeScalar(schema.type, value, cursor);
    case 'list':
      return decodeList(schema, value, cursor);
    case 'map':
      return decodeMap(schema, value, cursor);
    case 'object':
      return decodeObject(schema, value, cursor);
  }
}

function decodeObject(schema: ObjectSchema, value: unknown, cursor: Cursor): Fields {
  if (!isFields(value)) throw wrongType(value, `v1.${schema.name}`, cursor);
  const outer = cursor.struct;
  cursor.struct = schema.name;
  for (const key of Object.keys(value)) decodeField(schema, value, key, cursor);
  cursor.struct = outer;
  return value;
}

function decodeField(schema: ObjectSchema, object: Fields, key: string, cursor: Cursor): void {
  const field = schema.fields.get(key);
  const value = object[key];
  if (field === undefined) {
    dropUnknown(schema, object, key, cursor);
    return;
  }
  if (value === null) {
    Reflect.deleteProperty(object, key);
    return;
  }
  cursor.path.push(key);
  object[key] = decodeAny(field, value, cursor);
  cursor.path.pop();
}

function dropUnknown(schema: ObjectSchema, object: Fields, key: string, cursor: Cursor): void {
  if (schema.keepsUnknown) return;
  cursor.notes.unknown.push(pathText([...cursor.path, key]));
  Reflect.deleteProperty(object, key);
}

function decodeMap(schema: MapSchema, value: unknown, cursor: Cursor): Fields {
  if (!isFields(value)) throw wrongType(value, 'map[string]string', cursor);
  for (const key of Object.keys(value)) {
    cursor.path.push(key);
    const item = value[key];
    value[key] = item === null && schema.values.kind === 'scalar' ? '' : decodeAny(schema.values, item, cursor);
    cursor.path.pop();
  }
  return value;
}

function decodeList(schema: ListSchema, value: unknown, cursor: Cursor): unknown[] {
  if (!Array.isArray(value)) throw wrongType(value, `[]${itemType(schema.items)}`, cursor);
  const items = value as unknown[];
  for (const [index, item] of items.entries()) {
    cursor.path.push(index);
    items[index] = decodeAny(schema.items, item === null && schema.items.kind === 'object' ? {} : item, cursor);
    cursor.path.pop();
  }
  return items;
}

function itemType(schema: Schema): string {
  if (schema.kind === 'object') return `v1.${schema.name}`;
  return schema.kind === 'scalar' ? schema.type : 'interface {}';
}
