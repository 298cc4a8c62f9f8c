import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';

/** Amounts as the API prints them. */
export function printAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}
