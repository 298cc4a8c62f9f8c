import { z } from 'zod';
import { type Decoded, describe, isRecord, shorten } from '#shared/kube/decode/wire-object.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import type { Fields } from '#shared/api/fields.ts';

/*
 * An object of ours is read and written by its schema. A value that cannot be read is refused with the path of its field,
 * in the words of shared/kube/decode/wire-object.ts; fields that the schema does not name are left out.
 */

/** Reads an object; without metadata or a spec it is read as one in which they are empty. */
export function decodeKind<T>(schema: z.ZodType<T>, raw: unknown): Decoded<T> {
  if (!isRecord(raw)) return { ok: false, field: '', message: 'expected an object' };
  const first = decodeFields(schema, raw);
  const read = first.success ? first : decodeFields(schema, withoutAbsent(raw));
  if (read.success) return { ok: true, value: read.data };
  const [issue] = read.error.issues;
  return { ok: false, field: shorten(pathText(issue?.path ?? [])), message: shorten(issue?.message ?? '') };
}

function decodeFields<T>(schema: z.ZodType<T>, raw: Fields) {
  const { metadata, spec } = raw;
  return schema.safeDecode({ ...raw, metadata: metadata ?? {}, spec: spec ?? {} }, { error: sentence });
}

/** The object as the API server accepts it; what is absent is left out. */
export function encodeKind<T>(kind: string, schema: z.ZodType<T>, value: T): object {
  return { apiVersion: API_VERSION, kind, ...(withoutAbsent(z.encode(schema, value)) as object) };
}

/** A copy without fields that are null, which means absent as in the API server, or undefined. */
export function withoutAbsent<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutAbsent) as T;
  if (!isRecord(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const key in value) if (value[key] !== undefined && value[key] !== null) kept[key] = withoutAbsent(value[key]);
  return kept as T;
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
