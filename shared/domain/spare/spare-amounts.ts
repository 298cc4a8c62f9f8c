import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { type Amounts, quantityMilliNumber, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { SPARE_RESOURCES, type SpareKind } from './spare-resources.ts';

/** How much of a kind a node has, or a pod requests of it, in bytes or millicores; `undefined` if that is not said. */
export function nodeAmount(amounts: Amounts | undefined, kind: SpareKind): number | undefined {
  const amount = amounts?.get(kind);
  return amount && (kind === 'cpu' ? quantityMilliNumber(amount) : quantityNumber(amount));
}

/** The same of what a node offers in spare room, or a pod requests there. */
export function spareAmount(amounts: Amounts | undefined, kind: SpareKind): number | undefined {
  const amount = amounts?.get(SPARE_RESOURCES[kind]);
  return amount && quantityNumber(amount);
}

/** An amount of spare room as people read it: `1.5Gi`, `500m`. */
export function spareAmountText(kind: SpareKind, amount: number): string {
  return kind === 'memory' ? readableBytes(amount) : `${amount}m`;
}
