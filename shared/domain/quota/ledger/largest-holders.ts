import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import { addQuantities, compareQuantities, quantitySign, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { LedgerState } from './ledger-state.ts';

const MOST_HOLDERS = 3;

/** The namespaces that use most of a resource, including reservations; largest first, at most three. */
export function largestHolders({ byNamespace, reservations }: LedgerState, resource: string): readonly string[] {
  const held = new Map(Array.from(byNamespace, ([namespace, amounts]) => [namespace, amounts.get(resource) ?? ZERO]));
  for (const { namespace, amounts } of reservations.values()) {
    held.set(namespace, addQuantities(held.get(namespace) ?? ZERO, amounts.get(resource) ?? ZERO));
  }
  return Array.from(held, ([namespace, amount]) => ({ namespace, amount }))
    .filter(({ amount }) => quantitySign(amount) > 0)
    .sort((a, b) => compareQuantities(b.amount, a.amount) || compareTexts(a.namespace, b.namespace))
    .slice(0, MOST_HOLDERS)
    .map(({ namespace }) => namespace);
}
