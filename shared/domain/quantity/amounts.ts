import type { Quantity } from './quantity.ts';
import { addQuantities, compareQuantities, quantitySign, subtractQuantities, ZERO } from './quantity.ts';

/** Resource name to amount, as `ResourceList` of the core API. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const NO_AMOUNTS: Amounts = new Map();

/** Every resource of either; those in both are added. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a;
  if (a.size === 0) return b;
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const present = sum.get(name);
    sum.set(name, present === undefined ? amount : addQuantities(present, amount));
  }
  return sum;
}

/** Every resource of either: a minus b; a missing amount counts as zero. */
export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  const difference = new Map(a);
  for (const [name, amount] of b) {
    difference.set(name, subtractQuantities(difference.get(name) ?? ZERO, amount));
  }
  return difference;
}

/** Every resource of either, with the larger amount; if both are equal, that of a (oddity U6). */
export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a;
  if (a.size === 0) return b;
  const largest = new Map(a);
  for (const [name, amount] of b) {
    const present = largest.get(name);
    if (present === undefined || compareQuantities(amount, present) > 0) largest.set(name, amount);
  }
  return largest;
}

/** Only the resources that `keep` accepts; the same map if it accepts all. */
export function filterAmounts(amounts: Amounts, keep: (name: string, amount: Quantity) => boolean): Amounts {
  for (const [name, amount] of amounts) {
    if (!keep(name, amount)) return copyAmounts(amounts, keep);
  }
  return amounts;
}

function copyAmounts(amounts: Amounts, keep: (name: string, amount: Quantity) => boolean): Amounts {
  const kept = new Map<string, Quantity>();
  for (const [name, amount] of amounts) {
    if (keep(name, amount)) kept.set(name, amount);
  }
  return kept;
}

/** Whether both name the same resources with equal amounts, regardless of spelling. */
export function equalAmounts(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, amount]) => {
    const other = b.get(name);
    return other !== undefined && compareQuantities(amount, other) === 0;
  });
}

/** Whether all amounts are zero. */
export function areAllZero(amounts: Amounts): boolean {
  return [...amounts.values()].every((amount) => quantitySign(amount) === 0);
}

/** The names in code unit order. */
export function sortedNames(amounts: Amounts): readonly string[] {
  return [...amounts.keys()].sort();
}
