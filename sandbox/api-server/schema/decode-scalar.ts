import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { parseQuantity } from '#shared/domain/model/parse-quantity.ts';
import { DecodeError, wrongType, type Cursor } from './cursor.ts';
import type { ScalarType } from './schema.ts';

/** Checks one scalar and returns it, a quantity in its canonical spelling. Throws DecodeError. */
export function decodeScalar(type: ScalarType, value: unknown, cursor: Cursor): unknown {
  switch (type) {
    case 'string':
      return expectType('string', value, cursor);
    case 'boolean':
      return expectType('boolean', value, cursor);
    case 'int32':
      return decodeInteger(value, -(2 ** 31), 2 ** 31 - 1, { type, cursor });
    case 'int64':
      return decodeInteger(value, -(2 ** 63), 2 ** 63 - 1, { type, cursor });
    case 'number':
      return expectType('number', value, cursor);
    case 'bytes':
      return decodeBytes(value, cursor);
    case 'quantity':
      return decodeQuantity(value, cursor);
    case 'time':
      return decodeTime(value, cursor);
    case 'int-or-string':
      return typeof value === 'string'
        ? value
        : decodeInteger(value, -(2 ** 31), 2 ** 31 - 1, { type: 'int32', cursor });
  }
}

function expectType(type: 'string' | 'boolean' | 'number', value: unknown, cursor: Cursor): unknown {
  if (typeof value === type) return value;
  throw wrongType(value, { string: 'string', boolean: 'bool', number: 'float64' }[type], cursor);
}

interface Place {
  readonly type: string;
  readonly cursor: Cursor;
}

function decodeInteger(value: unknown, least: number, most: number, { type, cursor }: Place): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw wrongType(value, type, cursor);
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
const MOST_SPELLINGS = 1_000;

function decodeQuantity(value: unknown, cursor: Cursor): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType(value, 'resource.Quantity', cursor);
  const text = String(value).trim();
  const known = canonicalSpellings.get(text);
  if (known !== undefined) return known;
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new DecodeError(QUANTITY_MISTAKES[parsed.error]);
  const canonical = formatQuantity(parsed.quantity);
  if (canonicalSpellings.size < MOST_SPELLINGS) canonicalSpellings.set(text, canonical);
  return canonical;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function decodeTime(value: unknown, cursor: Cursor): unknown {
  if (typeof value !== 'string') throw wrongType(value, 'string', cursor);
  if (TIME.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const quoted = JSON.stringify(value.slice(0, 100));
  throw new DecodeError(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
}
