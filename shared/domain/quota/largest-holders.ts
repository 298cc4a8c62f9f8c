import type { Amounts } from '#shared/domain/model/amounts.ts';
import { compareQuantities, quantitySign, ZERO } from '#shared/domain/model/quantity.ts';

const MOST_HOLDERS = 3;

/** The namespaces that hold most of a resource, largest first, at most three. */
export function largestHolders(byNamespace: ReadonlyMap<string, Amounts>, resource: string): readonly string[] {
  return Array.from(byNamespace, ([namespace, amounts]) => ({ namespace, amount: amounts.get(resource) ?? ZERO }))
    .filter(({ amount }) => quantitySign(amount) > 0)
    .sort((a, b) => compareQuantities(b.amount, a.amount) || (a.namespace < b.namespace ? -1 : 1))
    .slice(0, MOST_HOLDERS)
    .map(({ namespace }) => namespace);
}
