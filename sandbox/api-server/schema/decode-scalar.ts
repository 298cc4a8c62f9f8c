import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { DecodeError, wrongType, type Cursor } from './cursor.ts';
import type { ScalarType } from './schema.ts';

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
export function decodeScalar(type: ScalarType, value: unknown, cursor: Cursor): unknown {
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
