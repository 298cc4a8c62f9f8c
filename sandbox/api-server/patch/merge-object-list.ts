import { isFields } from '#sandbox/api-server/wire/object.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { ListPatch } from './list-patch.ts';
import { inOrder } from './merge-value-list.ts';

type Merge = (item: unknown, change: unknown) => unknown;

/**
 * Merges a list of objects by a key field: known items are merged, new ones added, `$patch: delete` removes one,
 * `$patch: replace` anywhere replaces the whole list. Throws 400 for an item without the key.
 */
export function mergeObjectList(key: string, target: readonly unknown[], patch: ListPatch, merge: Merge): unknown[] {
  if (patch.items.some((item) => directive(item) === 'replace'))
    return patch.items.filter((item) => directive(item) === undefined);
  const result = [...target];
  for (const change of patch.items) mergeItem(key, result, change, merge);
  return Array.isArray(patch.order)
    ? inOrder(
        result,
        patch.order.map((item) => keyValue(key, item)),
        (item) => keyValue(key, item),
      )
    : result;
}

function mergeItem(key: string, items: unknown[], change: unknown, merge: Merge): void {
  const value = keyValue(key, change);
  if (value === undefined)
    throw badRequest(`map: ${JSON.stringify(change)} does not contain declared merge key: ${key}`);
  const at = items.findIndex((item) => keyValue(key, item) === value);
  if (directive(change) === 'delete') {
    if (at >= 0) items.splice(at, 1);
  } else if (at < 0) {
    items.push(merge({}, change));
  } else {
    items[at] = merge(items[at], change);
  }
}

function keyValue(key: string, item: unknown): unknown {
  return isFields(item) ? item[key] : undefined;
}

function directive(item: unknown): unknown {
  return isFields(item) ? item['$patch'] : undefined;
}
