import { isRecord } from '#shared/kube/kube-object.ts';

/** A field of a raw JSON value; `undefined` where it is no object or has no such field of its own. */
export function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The items of a raw JSON list; none of what is no list. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
