import type { z } from 'zod';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { READING, withoutAbsent } from './decode-kind.ts';

/**
 * Reads what a process of ours reported. Never throws: a value that cannot be read counts as absent, and so does the
 * entry of a list, or the part of an object, that cannot be without it. `undefined` if nothing is left.
 */
export function readReport<T>(schema: z.ZodType<T>, raw: unknown): T | undefined {
  const whole = schema.safeDecode(raw, READING);
  if (whole.success) return whole.data;
  for (let left = withoutAbsent(raw); ; left = withoutAbsent(left)) {
    const read = schema.safeDecode(left, READING);
    if (read.success) return read.data;
    if (!read.error.issues.every(({ path }) => remove(left, path))) return undefined;
  }
}

/**
 * Makes the value at a path `undefined`, or the innermost one around it that is there; `false` if that is all of it.
 * What several issues are about is removed once.
 */
function remove(value: unknown, path: readonly PropertyKey[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined || !(isRecord(value) || Array.isArray(value)) || !Object.hasOwn(value, key)) return false;
  const holder = value as Record<PropertyKey, unknown>;
  if (holder[key] !== undefined && !remove(holder[key], rest)) holder[key] = undefined;
  return true;
}
