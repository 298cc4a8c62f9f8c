import { z } from 'zod';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import { type Amounts, NO_AMOUNTS, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { encodeAmounts, encodeSelector } from '#shared/api/fields.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import { decodeObject, readAmounts, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { CRD_WORDS, type CrdWords, described } from './crd-words.ts';

/** Longer than any name, class or duration. */
const MAX_TEXT_LENGTH = 4_096;

/** A text; empty counts as absent. Bounds of the definition alone do not make a stored object unreadable. */
export function text(description: string, bounds: CrdWords = {}) {
  const whole = z.string().max(MAX_TEXT_LENGTH, `expected at most ${MAX_TEXT_LENGTH} characters`).optional();
  return fieldOf(
    whole,
    { ...bounds, description },
    {
      decode: (value) => (value === '' ? undefined : value),
      encode: (value: string | undefined) => value,
    },
  );
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

const QUANTITY = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
  minimum: 0,
  pattern: String.raw`^\+?(\d+(\.\d*)?|\.\d+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?\d+))?$`,
} as const;

/** Quantities of at least 0 by resource name. */
export function amounts(description: string, bounds: CrdWords = {}) {
  const words = { ...bounds, description, type: 'object', additionalProperties: QUANTITY };
  return fieldOf(z.unknown().optional(), words, {
    decode: readBy(readPositiveAmounts),
    encode: (value: Amounts | undefined) => (value === undefined ? undefined : encodeAmounts(value)),
  });
}

/** As `amounts`, where none are the same as an empty map. */
export function amountsIfAny(description: string, bounds: CrdWords = {}) {
  const words = { ...bounds, description, type: 'object', additionalProperties: QUANTITY };
  return fieldOf(z.unknown().optional(), words, {
    decode: readBy((object, key) => readPositiveAmounts(object, key) ?? NO_AMOUNTS),
    encode: (value: Amounts) => (value.size === 0 ? undefined : encodeAmounts(value)),
  });
}

function readPositiveAmounts(object: WireObject, key: string): Amounts | undefined {
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

/** A `metav1` LabelSelector. */
export function labelSelector(description: string) {
  return fieldOf(
    z.unknown().optional(),
    { ...SELECTOR, description },
    {
      decode: readBy(readSelector),
      encode: (value: LabelSelector | undefined) => (value === undefined ? undefined : encodeSelector(value)),
    },
  );
}

/** Reads a value with a reader of wire-object.ts. */
function readBy<T>(read: (object: WireObject, key: string) => T) {
  return (value: unknown, context: z.core.$RefinementCtx): T => {
    const decoded = decodeObject({ value }, (object) => read(object, 'value'));
    if (decoded.ok) return decoded.value;
    const below = decoded.field.slice('value.'.length);
    context.issues.push({ code: 'custom', path: below === '' ? [] : [below], message: decoded.message, input: value });
    return z.NEVER;
  };
}

/** Both ways of a field that may be absent. */
function fieldOf<A extends z.ZodType, T>(
  wire: A,
  words: CrdWords,
  ways: {
    readonly decode: (value: z.output<A>, context: z.core.$RefinementCtx) => T;
    readonly encode: (value: T) => z.output<A>;
  },
) {
  const schema = z.codec(wire, z.custom<T>(), ways as never);
  CRD_WORDS.add(schema, words);
  return schema;
}
