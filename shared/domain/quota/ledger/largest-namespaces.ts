import { approximateNumber, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';

/**
 * The names of those with the largest shares, by name; at most `most`, of equal ones the first by name. There may be ten
 * thousand of them each time, so only those that are equal at the end are sorted.
 */
export function largestNamespaces(shares: ReadonlyMap<string, number>, most: number): readonly string[] {
  const least = shares.size <= most ? 0 : (Float64Array.from(shares.values()).sort().at(-most) ?? 0);
  const larger: string[] = [];
  const equal: string[] = [];
  for (const [name, share] of shares) {
    if (share > least) larger.push(name);
    else if (share === least) equal.push(name);
  }
  return [...larger, ...equal.sort().slice(0, most - larger.length)].sort();
}

/**
 * The largest share that an amount is of its limit, both in the same order of resources. Of a limit of zero any use is the
 * largest share.
 */
export function largestShare(used: readonly Quantity[], limits: readonly Quantity[]): number {
  return used.reduce((largest, amount, index) => {
    const share = approximateNumber(amount) / approximateNumber(limits[index] ?? ZERO);
    return share > largest ? share : largest;
  }, 0);
}
