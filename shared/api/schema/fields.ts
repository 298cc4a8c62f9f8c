import { z } from 'zod';
import { type LabelSelector, type PreparedSelector, prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { type Amounts, NO_AMOUNTS, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from '#shared/domain/ranking/candidate.ts';
import { encodeAmounts, encodeSelector } from '#shared/api/fields.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  decodeObject,
  readAmounts,
  readBoolean,
  readText,
  readTexts,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { CRD_WORDS, type CrdWords, described } from './crd-words.ts';

/*
 * Fields of objects of ours. Bounds that stand in the words for the definition alone do not make an object unreadable
 * that the API server has stored already.
 */

/** Both ways of a field. */
interface FieldWays<T> {
  /** Throws as the readers of wire-object.ts do. */
  readonly read: (object: WireObject, key: string) => T;
  /** `undefined` is left out. */
  readonly write: (value: T) => unknown;
}

/* Schemas take memory on every node, so all fields share these. */
const ANY = z.unknown();
const MAYBE = ANY.optional();
const VALUE: z.ZodType = z.custom();

/** A field that may be absent. */
export function field<T>(ways: FieldWays<T>, words: CrdWords) {
  return withWords(z.codec(MAYBE, VALUE as z.ZodCustom<T, T>, codecOf(ways)), words);
}

/** A field that must be there. */
export function requiredField<T>(ways: FieldWays<T>, words: CrdWords) {
  return withWords(z.codec(ANY, VALUE as z.ZodCustom<T, T>, codecOf(ways)), words);
}

function codecOf<T>({ read, write }: FieldWays<T>) {
  return {
    decode: (value: unknown, context: z.core.ParsePayload): T => {
      const decoded = decodeObject({ value }, (object) => read(object, 'value'));
      if (decoded.ok) return decoded.value;
      context.issues.push({
        code: 'custom',
        path: pathIn(decoded.field.slice('value'.length)),
        message: decoded.message,
        input: value,
      });
      return z.NEVER;
    },
    encode: write,
  };
}

/** `[1].key` is an item of a list, `.key` a field. */
function pathIn(below: string): PropertyKey[] {
  const [, index, rest = below] = /^\[(\d+)\](.*)$/.exec(below) ?? [];
  const inner = rest === '' ? [] : [rest.slice(1)];
  return index === undefined ? inner : [Number(index), ...inner];
}

function withWords<S extends z.ZodType>(schema: S, words: CrdWords): S {
  CRD_WORDS.add(schema, words);
  return schema;
}

function same<T>(value: T): T {
  return value;
}

/** A text; empty counts as absent. */
export function text(description: string | undefined, words: CrdWords = {}) {
  return field({ read: readText, write: same }, { type: 'string', ...words, ...(description && { description }) });
}

/** A text that must be there: `mistake` says so. */
export function requiredText(mistake: string, words: CrdWords) {
  const read = (object: WireObject, key: string): string => readText(object, key) ?? refuseField(key, mistake);
  return requiredField({ read, write: same }, { type: 'string', ...words });
}

/** True or false; absent is false. */
export function flag(description: string) {
  return field({ read: readBoolean, write: same }, { type: 'boolean', description });
}

/** Texts; none if absent. */
export function texts(description: string, words: CrdWords, items: CrdWords) {
  const write = (value: readonly string[]) => (value.length === 0 ? undefined : value);
  return field(
    { read: readTexts, write },
    { type: 'array', items: { type: 'string', ...items }, ...words, description },
  );
}

/** As `texts`, but absent is not the same as none. */
export function optionalTexts(description: string, words: CrdWords, items: CrdWords) {
  const read = (object: WireObject, key: string): readonly string[] | undefined =>
    object[key] === undefined || object[key] === null ? undefined : readTexts(object, key);
  return field({ read, write: same }, textList(description, words, items));
}

function textList(description: string, words: CrdWords, items: CrdWords): CrdWords {
  return { type: 'array', items: { type: 'string', ...items }, ...words, description };
}

/** The items of a list; none if absent. */
export function list<S extends z.ZodType>(item: S, description: string, words: CrdWords) {
  const codec = z.codec(z.array(item).optional(), z.custom<readonly z.output<S>[]>(), {
    decode: (items) => items ?? [],
    encode: (items) => (items.length === 0 ? undefined : [...items]),
  });
  return withWords(codec, { 'x-kubernetes-list-type': 'atomic', ...words, description });
}

/** `metadata.name` of an object. */
export const NAME = z.object({ name: text(undefined) });
/** Of a name of most kinds, as a value. */
export const NAME_BOUNDS = { minLength: 1, maxLength: 253 } as const;

export const ALL_PRIORITIES = { min: LOWEST_PRIORITY, max: HIGHEST_PRIORITY } as const;

export function areAllPriorities({ min, max }: { readonly min: number; readonly max: number }): boolean {
  return min === LOWEST_PRIORITY && max === HIGHEST_PRIORITY;
}

/** A range of priorities, both ends included; a bound that is absent is the lowest or the highest priority. */
export function priorityRange(
  description: string,
  texts: { readonly min: string; readonly max: string },
  words: CrdWords = {},
) {
  const bound = (of: string) => described(z.int32(), of, { format: 'int32' }).optional();
  const range = described(z.object({ min: bound(texts.min), max: bound(texts.max) }), description, {
    ...words,
    'x-kubernetes-validations': [
      { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not be greater than max' },
    ],
  });
  return z.codec(range, z.custom<{ readonly min: number; readonly max: number }>(), {
    decode: ({ min = LOWEST_PRIORITY, max = HIGHEST_PRIORITY }) => ({ min, max }),
    encode: ({ min, max }) => ({
      min: min === LOWEST_PRIORITY ? undefined : min,
      max: max === HIGHEST_PRIORITY ? undefined : max,
    }),
  });
}

/** One of `choices`; absent means `fallback`, which is not written. */
export function choiceOr<const C extends readonly string[]>(choices: C, fallback: C[number], description: string) {
  const codec = z.codec(z.enum(choices).optional(), z.custom<C[number]>(), {
    decode: (value): C[number] => value ?? fallback,
    encode: (value) => (value === fallback ? undefined : value),
  });
  return withWords(codec, { defaultValue: fallback, description });
}

/** A whole number of 32 bits within bounds. */
export function integer(min: number, max: number) {
  const error = ({ input }: { readonly input?: unknown }): string => `expected ${min} to ${max}, got ${String(input)}`;
  return described(z.int().min(min, { error }).max(max, { error }), undefined, { format: 'int32' });
}

/** An RFC 3339 time, as text. */
export function time(description?: string) {
  return described(z.string(), description, { format: 'date-time' });
}

const EITHER = { 'x-kubernetes-int-or-string': true } as const;
const UNSIGNED = String.raw`(\d+(\.\d*)?|\.\d+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?\d+))?$`;
const POSITIVE = { ...EITHER, minimum: 0, pattern: String.raw`^\+?${UNSIGNED}` };
const SIGNED = { ...EITHER, pattern: `^[+-]?${UNSIGNED}` };

/** A whole number or a text, such as a percentage. */
export function intOrText(pattern: string): CrdWords {
  return { ...EITHER, pattern };
}

/** Quantities of at least 0 by resource name; an empty map is not the same as none. */
export function optionalAmounts(description: string, words: CrdWords = {}) {
  const write = (value: Amounts | undefined): unknown => value && encodeAmounts(value);
  return field(
    { read: readPositive, write },
    { ...words, description, type: 'object', additionalProperties: POSITIVE },
  );
}

/** Quantities of at least 0 by resource name. */
export function amounts(description: string, words: CrdWords = {}) {
  const read = (object: WireObject, key: string): Amounts => readPositive(object, key) ?? NO_AMOUNTS;
  return field(
    { read, write: encodeUnlessEmpty },
    { ...words, description, type: 'object', additionalProperties: POSITIVE },
  );
}

/** Quantities by resource name. */
export function signedAmounts(description: string, words: CrdWords = {}) {
  const read = (object: WireObject, key: string): Amounts => readAmounts(object, key) ?? NO_AMOUNTS;
  return field(
    { read, write: encodeUnlessEmpty },
    { ...words, description, type: 'object', additionalProperties: SIGNED },
  );
}

function encodeUnlessEmpty(value: Amounts): unknown {
  return value.size === 0 ? undefined : encodeAmounts(value);
}

function readPositive(object: WireObject, key: string): Amounts | undefined {
  const read = readAmounts(object, key);
  for (const [name, amount] of read ?? NO_AMOUNTS) {
    if (quantitySign(amount) < 0) return refuseField(`${key}.${name}`, 'expected at least 0');
  }
  return read;
}
const SELECTOR: CrdWords = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: {
    matchLabels: {
      type: 'object',
      description: 'Labels and values that must all match.',
      maxProperties: 64,
      additionalProperties: { type: 'string', maxLength: 63 },
    },
    matchExpressions: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      maxItems: 64,
      description: 'Requirements that must all be met.',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string', maxLength: 317, description: 'Label key.' },
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: {
            type: 'array',
            'x-kubernetes-list-type': 'atomic',
            maxItems: 256,
            description: 'Values for In and NotIn. Must be empty for Exists and DoesNotExist.',
            items: { type: 'string', maxLength: 63 },
          },
        },
      },
    },
  },
};

/** A `metav1` LabelSelector; `undefined` if absent. */
export function labelSelector(description: string) {
  const write = (value: LabelSelector | undefined): unknown => value && encodeSelector(value);
  return field({ read: readSelector, write }, { ...SELECTOR, description });
}

/** A selector prepared for frequent use; `absent` is what an absent one means. */
export function preparedSelector(description: string, absent: PreparedSelector, words: CrdWords = {}) {
  const read = (object: WireObject, key: string): PreparedSelector => {
    const selector = readSelector(object, key);
    return selector === undefined ? absent : prepareSelector(selector);
  };
  return field({ read, write: writeSelector }, { ...SELECTOR, ...words, description });
}

/** A selector that must be there. */
export function requiredSelector(description: string) {
  const read = (object: WireObject, key: string): PreparedSelector =>
    prepareSelector(readSelector(object, key) ?? refuseField(key, 'expected a label selector'));
  return requiredField({ read, write: writeSelector }, { ...SELECTOR, description });
}

function writeSelector({ written }: PreparedSelector): unknown {
  return written && encodeSelector(written);
}
