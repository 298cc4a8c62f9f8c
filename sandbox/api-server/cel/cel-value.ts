import { isFields } from '#sandbox/api-server/wire/object.ts';

/** JSON as CEL sees it: whole numbers are `int` (bigint), others `double`. */
export function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (!isFields(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, celValue(item)]));
}
