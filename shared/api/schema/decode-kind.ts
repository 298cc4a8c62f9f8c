import { z } from 'zod';
import { type Decoded, decodeObject, describe, refuseField } from '#shared/kube/decode/wire-object.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import type { Fields } from '#shared/api/fields.ts';

/*
 * An object of ours is read and written by its schema. A value that cannot be read is refused with the path of its field,
 * in the words of shared/kube/decode/wire-object.ts; fields that the schema does not name are left out.
 */

/** Reads an object; without metadata or a spec it is read as one in which they are empty. */
export function decodeKind<T>(schema: z.ZodType<T>, raw: unknown): Decoded<T> {
  return decodeObject(raw, ({ metadata, spec, ...others }) =>
    readBySchema(schema, { ...others, metadata: metadata ?? {}, spec: spec ?? {} }),
  );
}

/** Reads an object among others; throws as the readers of wire-object.ts do. */
export function readBySchema<T>(schema: z.ZodType<T>, fields: Fields): T {
  const first = schema.safeDecode(fields, READING);
  const read = first.success ? first : schema.safeDecode(withoutAbsent(fields), READING);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return refuseField(pathText(issue?.path ?? []), issue?.message ?? '');
}

/** Compiled readers would take a MiB on every node. */
export const READING = { error: sentence, jitless: true } as const;

/** The object as the API server accepts it; what is absent is left out. */
export function encodeKind<T>(kind: string, schema: z.ZodType<T>, value: T): object {
  return { apiVersion: API_VERSION, kind, ...encodeBySchema(schema, value) };
}

/** What is absent is left out. */
export function encodeBySchema<T>(schema: z.ZodType<T>, value: T): object {
  return withoutAbsent(z.encode(schema, value)) as object;
}

/** No object of ours is deeper; what is does not end the stack. */
const MAX_DEPTH = 32;

/** A copy without fields that are null, which means absent as in the API server, and without what is undefined. */
export function withoutAbsent<T>(value: T, depth = MAX_DEPTH): T {
  if (depth === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.filter((each) => each !== undefined).map((each) => withoutAbsent<unknown>(each, depth - 1)) as T;
  const kept = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutAbsent<unknown>(each, depth - 1)])) as T;
}

/** `spec.limits[0].max` */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a value, for whatever a schema does not say itself. */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  if (issue.code === 'invalid_type') return expected(EXPECTED[issue.expected] ?? issue.expected, input);
  if (issue.code !== 'invalid_value') return undefined;
  if (typeof input !== 'string') return expected('a text', input);
  return `expected ${issue.values.join(' or ')}, got "${input}"`;
}

function expected(what: string, input: unknown): string {
  return `expected ${what}, got ${describe(input)}`;
}
