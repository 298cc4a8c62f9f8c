import { z } from 'zod';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { timeText } from '#shared/api/fields.ts';
import {
  isRecord,
  readBoolean,
  readChoice,
  readClippedText,
  readInstant,
  readInteger,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { type CrdWords, described } from './crd-words.ts';
import { field, requiredField } from './fields.ts';

/*
 * Fields of what processes of ours report. All bounds stand in the definition alone, so that nothing read cannot be
 * written again; `readReport` (decode-report.ts) leaves out what a reader refuses.
 */

/** The ways in which a field of one type can stand in a report. */
interface ReportField<T> {
  readonly optional: (description?: string, words?: CrdWords) => ReturnType<typeof field<T | undefined>>;
  readonly required: (description?: string, words?: CrdWords) => ReturnType<typeof requiredField<T>>;
  /** An absent one is read as `value`. */
  readonly or: (value: T, description?: string, words?: CrdWords) => ReturnType<typeof field<T>>;
}

type Reader<T> = (object: WireObject, key: string) => T | undefined;

function reportField<T>(read: Reader<T>, type: CrdWords, write: (value: T) => unknown = same): ReportField<T> {
  const wordsOf = (description: string | undefined, words: CrdWords): CrdWords => ({
    ...type,
    ...words,
    ...(description !== undefined && { description }),
  });
  const orRefuse = (object: WireObject, key: string): T => read(object, key) ?? refuseField(key, 'expected a value');
  return {
    optional: (description, words = {}) =>
      field({ read, write: (value) => (value === undefined ? undefined : write(value)) }, wordsOf(description, words)),
    required: (description, words = {}) => requiredField({ read: orRefuse, write }, wordsOf(description, words)),
    or: (value, description, words = {}) =>
      field({ read: (object, key) => read(object, key) ?? value, write }, wordsOf(description, words)),
  };
}

function same<T>(value: T): T {
  return value;
}

/** The definition requires the field, though it is read without it. */
export const IN_DEFINITION = { isRequired: true } as const satisfies CrdWords;

/** A name: a longer one is refused, because truncated it would name something else. Empty counts as absent. */
export function name(max: number): ReportField<string> {
  const read: Reader<string> = (object, key) => {
    const text = readText(object, key);
    return text !== undefined && text.length > max ? refuseField(key, `expected at most ${max} characters`) : text;
  };
  return reportField(read, { type: 'string', maxLength: max });
}

/** A text that is cut at `max` characters, both ways: one long name must not end the whole report. Empty counts as absent. */
export function clipped(max: number): ReportField<string> {
  const cut = (text: string): string => text.slice(0, max);
  const read: Reader<string> = (object, key) => readClippedText(object, key)?.slice(0, max);
  return reportField(read, { type: 'string', maxLength: max }, cut);
}

/** One of the choices; `words` say it in the definition. */
export function oneOf<const C extends readonly string[]>(
  choices: C,
  words: CrdWords = { enum: choices },
): ReportField<C[number]> {
  return reportField<C[number]>((object, key) => readChoice(object, key, choices), { type: 'string', ...words });
}

export const INT32 = reportField(readWhole, { type: 'integer', format: 'int32' });
/** A whole number of at least 0. */
export const INT64 = reportField(readWhole, { type: 'integer', format: 'int64', minimum: 0 });
export const FLAG = reportField(readBoolean, { type: 'boolean' });
/** An RFC 3339 time. */
export const INSTANT = reportField<Instant>(readInstant, { type: 'string', format: 'date-time' }, timeText);

function readWhole(object: WireObject, key: string): number | undefined {
  const value = readInteger(object, key);
  return value === undefined || Number.isSafeInteger(value) ? value : refuseField(key, 'expected a smaller number');
}

/** A list, of which the first `max` items are read; an empty one is written too. */
export function entries<S extends z.ZodType>(item: S, max: number, description: string, words: CrdWords = {}) {
  const codec = z.codec(z.array(item).optional(), z.custom<readonly z.output<S>[]>(), {
    decode: (items = []) => items.slice(0, max),
    encode: (items) => [...items],
  });
  return described(codec, description, { maxItems: max, 'x-kubernetes-list-type': 'atomic', ...words });
}

/** The characters of a reason's text, and its facts, at most. */
export const MAX_REASON = { text: 1_024, facts: 32 } as const;

/** The reason for a decision or a removal; an absent one, or an absent part of it, is empty. */
export function because(about: string, maxCode: number, description: string, words: CrdWords = {}) {
  const facts = reportField<Because['facts']>(readFacts, {
    type: 'object',
    maxProperties: MAX_REASON.facts,
    additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true },
  });
  const fields = z.object({
    code: clipped(maxCode).or('', 'Reason code for programs.', IN_DEFINITION),
    text: clipped(MAX_REASON.text).or('', 'Reason in words.', IN_DEFINITION),
    facts: facts.or({}, `Numbers and names that the ${about} is based on.`),
  });
  return z.codec(described(fields, description, words).optional(), z.custom<Because>(), {
    decode: (given) => given ?? { code: '', text: '', facts: {} },
    encode: (given) => given,
  });
}

/** Never refuses a reason for the sake of one fact. */
function readFacts(object: WireObject, key: string): Because['facts'] {
  const value = object[key];
  const known = Object.entries(isRecord(value) ? value : {}).filter(isFact);
  return Object.fromEntries(known.slice(0, MAX_REASON.facts));
}

function isFact(entry: [string, unknown]): entry is [string, string | number | boolean] {
  return ['string', 'number', 'boolean'].includes(typeof entry[1]);
}
