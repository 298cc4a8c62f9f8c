import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';
import type { ListSchema } from '#sandbox/api-server/schema/schema.ts';

/** The step that names an item of an associative list: `k:{"name":"c"}` or, in a set, `v:"x"`. */
export function itemStep(schema: ListSchema, item: unknown): string {
  if (schema.listType === 'set' || !isFields(item)) return `v:${JSON.stringify(item)}`;
  return `k:${JSON.stringify(itemKey(schema, item))}`;
}

/** The key fields of an item in the order of their names, absent ones as their default. */
export function itemKey(schema: ListSchema, item: Fields): Fields {
  const key: Fields = {};
  for (const name of [...schema.mapKeys].sort()) key[name] = item[name] ?? schema.keyDefaults[name] ?? '';
  return key;
}
