import { approximateNumber, ZERO, type Quantity } from '#shared/domain/quantity/quantity.ts';

/**
 * The namespaces with the largest shares, sorted by name; at most `most`, and among equal shares the first by name.
 * There may be ten thousand namespaces, so only ties at the cutoff are sorted.
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
 * The largest ratio of an amount to its limit; both lists have the same order of resources. With a limit of zero, any
 * usage is infinite.
 */
export function largestShare(used: readonly Quantity[], limits: readonly Quantity[]): number {
  return used.reduce((largest, amount, index) => {
    const share = approximateNumber(amount) / approximateNumber(limits[index] ?? ZERO);
    return share > largest ? share : largest;
  }, 0);
}
