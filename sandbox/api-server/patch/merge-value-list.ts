import type { ListPatch } from './list-patch.ts';

/** Merges a list of plain values as a set: additions at the end, deletions, then the order asked for. */
export function mergeValueList(target: readonly unknown[], { items, order, deleted }: ListPatch): unknown[] {
  const gone = new Set(Array.isArray(deleted) ? deleted : []);
  const merged = Array.from(new Set([...target, ...items])).filter((value) => !gone.has(value));
  return Array.isArray(order) ? inOrder(merged, order, (value) => value) : merged;
}

/**
 * Puts the items that `order` names into its order, each in a place where such an item stood or at the end;
 * the others keep their places before them.
 */
export function inOrder<T>(items: readonly T[], order: readonly unknown[], keyOf: (item: T) => unknown): T[] {
  const rank = new Map(order.map((key, index) => [key, index]));
  const named = items.filter((item) => rank.has(keyOf(item)));
  named.sort((a, b) => (rank.get(keyOf(a)) ?? 0) - (rank.get(keyOf(b)) ?? 0));
  const queue = named.values();
  return items.map((item) => (rank.has(keyOf(item)) ? (queue.next().value ?? item) : item));
}
