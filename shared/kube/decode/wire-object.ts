import { type Amounts, type Quantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { parseQuantity, type QuantityError } from '#shared/domain/quantity/parse-quantity.ts';

/**
 * A wire object as a domain value, or the first field that cannot be decoded
 * (`spec.containers[0].resources.limits.cpu`, empty for the object itself) and why.
 */
export type Decoded<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly field: string; readonly message: string };

/** Parses JSON; the error says where the text is invalid. */
export function parseJson(text: string): Decoded<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return {
      ok: false,
      field: '',
      message: `not valid JSON: ${(error as Error).message.slice(0, MAX_PARSER_MESSAGE)}`,
    };
  }
}

const MAX_PARSER_MESSAGE = 200;

/** The JSON value of a text; `undefined` if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A JSON object whose fields are read one by one. As in the API server, null means absent. */
export type WireObject = Readonly<Record<string, unknown>>;

/** Thrown by the readers below and turned into a value by `decodeObject`; the path grows on the way up. */
class FieldFault extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(shorten(message));
    this.field = shorten(field);
  }
}

/** Longer than any name, class, UID, quantity or key of Kubernetes. */
const MAX_TEXT_LENGTH = 4_096;
/** The maximum text that an error message repeats from the object. */
const MAX_FAULT = 500;

const NO_FIELDS: WireObject = {};
const NO_ITEMS: readonly never[] = [];
const NO_TEXTS: ReadonlyMap<string, string> = new Map();

const QUANTITY_FAULTS: Readonly<Record<QuantityError, string>> = {
  format: 'expected a quantity such as 500m, 2 or 1Gi',
  suffix: 'expected a suffix such as m, k, M, Ki, Mi or an exponent',
  numeric: 'expected a number before the suffix',
};

/** Rejects a field whose value has the right type but makes no sense. */
export function refuseField(key: string, message: string): never {
  throw new FieldFault(key, message);
}

/** Decodes an object with `read`; the first error becomes the result. */
export function decodeObject<T>(raw: unknown, read: (object: WireObject) => T): Decoded<T> {
  if (!isRecord(raw)) return { ok: false, field: '', message: 'expected an object' };
  try {
    return { ok: true, value: read(raw) };
  } catch (error) {
    if (error instanceof FieldFault) return { ok: false, field: error.field, message: error.message };
    throw error;
  }
}

/** The text of a field; empty counts as absent, as for Go strings. A text too long for a name is rejected. */
export function readText(object: WireObject, key: string): string | undefined {
  const text = readPointerText(object, key);
  return text === '' ? undefined : text;
}

/**
 * The first 4,096 characters of a text field that the API server stores at any length, such as the name of an owner.
 * Empty counts as absent.
 */
export function readClippedText(object: WireObject, key: string): string | undefined {
  const text = readClippedPointerText(object, key);
  return text === '' ? undefined : text;
}

/** As `readClippedText`, but distinguishes empty from absent. */
export function readClippedPointerText(object: WireObject, key: string): string | undefined {
  const text = readAnyText(object, key);
  return text !== undefined && text.length > MAX_TEXT_LENGTH ? copyOf(text.slice(0, MAX_TEXT_LENGTH)) : text;
}

/** A copy: a slice of a text keeps the whole text alive. */
export function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/** The text of a field, distinguishing empty from absent. */
export function readPointerText(object: WireObject, key: string): string | undefined {
  const value = readAnyText(object, key);
  if (value !== undefined && value.length > MAX_TEXT_LENGTH)
    throw new FieldFault(key, `expected at most ${MAX_TEXT_LENGTH} characters`);
  return value;
}

/** A text of any length, such as an annotation. */
export function readAnyText(object: WireObject, key: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new FieldFault(key, `expected a text, got ${describe(value)}`);
  return value;
}

/** A text that must be one of `choices`. */
export function readChoice<T extends string>(object: WireObject, key: string, choices: readonly T[]): T | undefined {
  const text = readText(object, key);
  const found = choices.find((choice) => choice === text);
  if (text === undefined || found !== undefined) return found;
  throw new FieldFault(key, `expected ${choices.join(' or ')}, got "${text}"`);
}

/** A whole number. */
export function readInteger(object: WireObject, key: string): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value)) throw new FieldFault(key, `expected a whole number, got ${describe(value)}`);
  return value as number;
}

/** A whole number of at least 0. */
export function readCount(object: WireObject, key: string): number | undefined {
  const count = readInteger(object, key);
  if (count !== undefined && count < 0) throw new FieldFault(key, `expected at least 0, got ${count}`);
  return count;
}

/** A whole number of 32 bits, such as a priority. */
export function readInt32(object: WireObject, key: string): number | undefined {
  const value = readInteger(object, key);
  if (value !== undefined && (value | 0) !== value) throw new FieldFault(key, `expected a 32-bit number, got ${value}`);
  return value;
}

/** A boolean; absent means false. */
export function readBoolean(object: WireObject, key: string): boolean {
  const value = object[key] ?? false;
  if (typeof value !== 'boolean') throw new FieldFault(key, `expected true or false, got ${describe(value)}`);
  return value;
}

/** An RFC 3339 time. */
export function readInstant(object: WireObject, key: string): Instant | undefined {
  const text = readText(object, key);
  if (text === undefined) return undefined;
  const instant = Date.parse(text);
  if (Number.isNaN(instant)) throw new FieldFault(key, `expected a time such as 2026-01-31T12:00:00Z, got "${text}"`);
  return instant;
}

/** A nested object; `read` gets its fields. */
export function readObject<T>(object: WireObject, key: string, read: (inner: WireObject) => T): T | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  return readInside(value, key, read);
}

/** As `readObject`, but an absent object is read as one without fields. */
export function readPart<T>(object: WireObject, key: string, read: (inner: WireObject) => T): T {
  return readObject(object, key, read) ?? read(NO_FIELDS);
}

/** A list of objects; empty if absent. */
export function readList<T>(object: WireObject, key: string, read: (item: WireObject) => T): readonly T[] {
  const items = listOf(object, key);
  return items.length === 0 ? NO_ITEMS : items.map((item, index) => readInside(item, key, read, index));
}

/** `namespace` and `name` of metadata; empty if absent. */
export function readIdentity(metadata: WireObject): { readonly namespace: string; readonly name: string } {
  return { namespace: readText(metadata, 'namespace') ?? '', name: readText(metadata, 'name') ?? '' };
}

/** A list of texts; empty if absent. */
export function readTexts(object: WireObject, key: string): readonly string[] {
  return listOf(object, key).map((item, index) => {
    if (typeof item !== 'string') throw new FieldFault(`${key}[${index}]`, `expected a text, got ${describe(item)}`);
    return item;
  });
}

/** A map of texts, such as labels; empty if absent. */
export function readTextMap(object: WireObject, key: string): ReadonlyMap<string, string> {
  const value = object[key];
  if (value === undefined || value === null) return NO_TEXTS;
  return readInside(value, key, (inner) => {
    return new Map(Object.keys(inner).map((name) => [name, readAnyText(inner, name) ?? '']));
  });
}

/** Resource names with quantities. */
export function readAmounts(object: WireObject, key: string): Amounts | undefined {
  return readObject(object, key, (inner) => {
    const amounts = new Map<string, Quantity>();
    for (const name of Object.keys(inner)) amounts.set(name, readQuantity(inner, name));
    return amounts;
  });
}

/** A quantity as text or number; null is zero (oddity Q11). */
function readQuantity(object: WireObject, key: string): Quantity {
  const value = object[key];
  if (value === null) return ZERO;
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new FieldFault(key, `expected a quantity, got ${describe(value)}`);
  }
  const parsed = parseWireQuantity(String(value));
  if (!parsed.ok) throw new FieldFault(key, `${QUANTITY_FAULTS[parsed.error]}, got "${value}"`);
  return parsed.quantity;
}

/** `parseQuantity` as for a JSON string: surrounding white space is dropped (oddity Q11). */
export function parseWireQuantity(text: string): ReturnType<typeof parseQuantity> {
  const parsed = parseQuantity(text);
  return parsed.ok ? parsed : parseQuantity(trimWhiteSpace(text));
}

const SPACE = 0x20;
const LAST_ASCII = 0x7f;
/** White space in Go that JSON allows unescaped. JSON escapes are not decoded, so the rest stays. */
const WHITE_SPACE =
  '\u0020\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000';

function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text, start)) start += 1;
  while (end > start && isWhiteSpace(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

/** Used only beyond ASCII: a text may be megabytes of spaces. */
function isWhiteSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === SPACE || (code > LAST_ASCII && WHITE_SPACE.includes(text.charAt(at)));
}

function listOf(object: WireObject, key: string): readonly unknown[] {
  const value = object[key] ?? NO_ITEMS;
  if (!Array.isArray(value)) throw new FieldFault(key, `expected a list, got ${describe(value)}`);
  return value;
}

/** Builds the path only for an error, because lists may be long. */
function readInside<T>(value: unknown, key: string, read: (inner: WireObject) => T, index?: number): T {
  if (!isRecord(value)) throw new FieldFault(pathOf(key, index), `expected an object, got ${describe(value)}`);
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FieldFault) throw new FieldFault(`${pathOf(key, index)}.${error.field}`, error.message);
    throw error;
  }
}

function pathOf(key: string, index: number | undefined): string {
  return index === undefined ? key : `${key}[${index}]`;
}

function shorten(text: string): string {
  return text.length <= MAX_FAULT ? text : `${text.slice(0, MAX_FAULT)}…`;
}

export function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : JSON.stringify(typeof value === 'string' ? shorten(value) : value);
}

/** Whether a decoded JSON value is an object with fields, and not a list or null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field of a raw JSON value; `undefined` if the value is not an object or does not have the field itself. */
export function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The items of a raw JSON list; an empty list if it is not a list. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
