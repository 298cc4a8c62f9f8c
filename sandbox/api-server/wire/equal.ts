import { isFields } from './object.ts';

/** Deep equality of two JSON values; the order of keys does not count. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && hasEqualItems(a, b);
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

function hasEqualItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
}
