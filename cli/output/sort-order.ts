import { compareQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';

/** A field of the items of a list. */
export interface SortKey {
  /** As the user wrote it. */
  readonly path: string;
  /** `undefined` if the item has no such field. */
  readonly read: (item: unknown) => unknown;
}

const NATURAL = new Intl.Collator('en', { numeric: true });

/**
 * Orders values of a field as kubectl's `--sort-by` does: what is missing first, numbers and quantities by their amount,
 * other text naturally, so that `node-2` stands before `node-10`. `kubectl/pkg/cmd/get/sorter.go`.
 */
export function compareFields(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [a, b].map(amountIn);
  if (left !== undefined && right !== undefined) return compareQuantities(left, right);
  return NATURAL.compare(textOf(a), textOf(b));
}

function amountIn(value: unknown): Quantity | undefined {
  const parsed = typeof value === 'string' ? parseQuantity(value) : undefined;
  return parsed?.ok === true ? parsed.quantity : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
