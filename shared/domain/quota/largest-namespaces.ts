import { approximateNumber, type Quantity } from '#shared/domain/model/quantity.ts';

/**
 * The names of those that use most, each by the limited resource of which it uses the largest share; at most `most`, of
 * equal ones the first. Amounts and limits come in the same order of resources.
 */
export function largestNamespaces(
  byNamespace: ReadonlyMap<string, readonly Quantity[]>,
  limits: readonly Quantity[],
  most: number,
): readonly string[] {
  const names = [...byNamespace.keys()];
  if (names.length <= most) return names;
  const hard = limits.map(approximateNumber);
  const shares = Float64Array.from(byNamespace.values(), (used) => largestShare(used, hard));
  const least = shares.toSorted().at(-most) ?? 0;
  const larger = names.filter((_, index) => (shares[index] ?? 0) > least);
  const equal = names.filter((_, index) => shares[index] === least);
  return [...larger, ...equal.slice(0, most - larger.length)];
}

/** Of a limit of zero any use is the largest share. */
function largestShare(used: readonly Quantity[], hard: readonly number[]): number {
  return used.reduce((largest, amount, index) => {
    const share = approximateNumber(amount) / (hard[index] ?? 0);
    return share > largest ? share : largest;
  }, 0);
}
