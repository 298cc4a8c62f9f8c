import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { ListSchema, MapSchema, ObjectSchema, Schema, ScalarType } from './schema.ts';

/**
 * Checks a JSON value against the schema, in place: nulls and unknown fields are removed, quantities become canonical.
 * Returns the replacement of the value. Throws DecodeError for a value of the wrong type.
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

type Decoder = (value: unknown, cursor: Cursor) => unknown;

const DECODERS: Readonly<Record<ScalarType, Decoder>> = {
  string: (value, cursor) => expectType('string', value, cursor),
  boolean: (value, cursor) => expectType('boolean', value, cursor),
  number: (value, cursor) => expectType('number', value, cursor),
  int32: (value, cursor) => decodeInteger(value, 31, cursor),
  int64: (value, cursor) => decodeInteger(value, 63, cursor),
  bytes: decodeBytes,
  quantity: decodeQuantity,
  time: decodeTime,
  'int-or-string': (value, cursor) => (typeof value === 'string' ? value : decodeInteger(value, 31, cursor)),
};

/** Checks one scalar and returns it, a quantity in its canonical spelling. Throws DecodeError. */
function decodeScalar(type: ScalarType, value: unknown, cursor: Cursor): unknown {
  return DECODERS[type](value, cursor);
}

function expectType(type: 'string' | 'boolean' | 'number', value: unknown, cursor: Cursor): unknown {
  if (typeof value === type) return value;
  throw wrongType(value, { string: 'string', boolean: 'bool', number: 'float64' }[type], cursor);
}

function decodeInteger(value: unknown, bits: 31 | 63, cursor: Cursor): number {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** bits) && value < 2 ** bits;
  if (fits) return value;
  throw wrongType(value, `int${bits + 1}`, cursor);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeBytes(value: unknown, cursor: Cursor): unknown {
  if (typeof value !== 'string') throw wrongType(value, '[]uint8', cursor);
  const stray = value.replace(/[\r\n]/g, '');
  if (!BASE64.test(stray)) throw new DecodeError(`illegal base64 data at input byte ${strayByte(stray)}`);
  return value;
}

function strayByte(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/);
  return at < 0 ? Math.max(0, text.length - (text.length % 4)) : at;
}

const QUANTITY_MISTAKES = {
  format: String.raw`quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  suffix: "unable to parse quantity's suffix",
  numeric: 'unable to parse numeric part of quantity',
} as const;

/** The same few spellings occur in every pod. */
const canonicalSpellings = new Map<string, string>();
const MAX_SPELLINGS = 1_000;

function decodeQuantity(value: unknown, cursor: Cursor): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType(value, 'resource.Quantity', cursor);
  const text = String(value).trim();
  const known = canonicalSpellings.get(text);
  if (known !== undefined) return known;
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new DecodeError(QUANTITY_MISTAKES[parsed.error]);
  const canonical = formatQuantity(parsed.quantity);
  if (canonicalSpellings.size < MAX_SPELLINGS) canonicalSpellings.set(text, canonical);
  return canonical;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function decodeTime(value: unknown, cursor: Cursor): unknown {
  if (typeof value !== 'string') throw wrongType(value, 'string', cursor);
  if (TIME.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const quoted = JSON.stringify(value.slice(0, 100));
  throw new DecodeError(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
}

/** The findings of a pass over one body. */
export interface DecodeNotes {
  /** Paths of fields that the schema does not know; they are removed from the value. */
  readonly unknown: string[];
}

/** A value of the wrong type for the schema; `message` is in the words of Go's JSON decoder. */
export class DecodeError extends Error {}

/** Where in the body the decoder is; one cursor for a whole pass. */
export interface Cursor {
  readonly path: (string | number)[];
  /** Go's name of the innermost struct. */
  struct: string;
  readonly notes: DecodeNotes;
}

/** `json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32`. */
function wrongType(value: unknown, expected: string, cursor: Cursor): DecodeError {
  const names = cursor.path.filter((step) => typeof step === 'string');
  const place = cursor.struct === '' ? 'Go value' : `Go struct field ${[cursor.struct, ...names].join('.')}`;
  return new DecodeError(`json: cannot unmarshal ${jsonType(value)} into ${place} of type ${expected}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return `number ${value}`;
  return value === null ? 'null' : typeof value;
}

/** `spec.containers[0].image`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/**
 * Removes the fields that a structural schema does not know, in place, and records their paths. Values of the wrong
 * type are kept: the validation that follows reports them.
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

/** Undefined for a key to remove. */
function schemaBelow(schema: Schema, key: string): Schema | undefined {
  if (schema.kind === 'map') return schema.values;
  if (schema.kind !== 'object') return KEPT;
  return schema.fields.get(key) ?? (schema.keepsUnknown ? KEPT : undefined);
}
