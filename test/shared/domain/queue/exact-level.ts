/** A fraction of two integers, the second positive. */
type Fraction = readonly [bigint, bigint];

interface Bounds {
  readonly weight: bigint;
  readonly floor: bigint;
  readonly ceiling: bigint;
}

/** The exact shares by another way than the product's: all breakpoints are sorted and the level is found between two. */
export function exactShares(shares: readonly Bounds[], total: bigint): readonly Fraction[] {
  const level = levelFor(shares, total);
  return shares.map((share) => at(share, level));
}

/** Whether an integer is less than one unit from a fraction. */
export function isWithinOne(amount: bigint, [over, under]: Fraction): boolean {
  const gap = amount * under - over;
  return gap > -under && gap < under;
}

function levelFor(shares: readonly Bounds[], total: bigint): Fraction {
  const breakpoints = shares
    .filter(({ weight }) => weight > 0n)
    .flatMap(({ weight, floor, ceiling }): readonly Fraction[] => [
      [floor, weight],
      [ceiling, weight],
    ])
    .sort(compare);
  let below: Fraction = [0n, 1n];
  for (const level of breakpoints) {
    const high = sum(shares.map((share) => at(share, level)));
    if (compare(high, [total, 1n]) <= 0) {
      below = level;
      continue;
    }
    const low = sum(shares.map((share) => at(share, below)));
    return compare(low, [total, 1n]) >= 0 ? below : between(below, level, { low, high, total });
  }
  return below;
}

/** The sum is linear between two neighbouring breakpoints. */
function between(
  from: Fraction,
  to: Fraction,
  { low, high, total }: { readonly low: Fraction; readonly high: Fraction; readonly total: bigint },
): Fraction {
  const [part, whole] = [minus([total, 1n], low), minus(high, low)];
  const way = minus(to, from);
  return plus(from, [way[0] * part[0] * whole[1], way[1] * part[1] * whole[0]]);
}

function at({ weight, floor, ceiling }: Bounds, [over, under]: Fraction): Fraction {
  if (weight === 0n) return [floor, 1n];
  const amount = weight * over;
  if (amount < floor * under) return [floor, 1n];
  return amount > ceiling * under ? [ceiling, 1n] : [amount, under];
}

function compare([a, b]: Fraction, [c, d]: Fraction): number {
  const difference = a * d - c * b;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function sum(fractions: readonly Fraction[]): Fraction {
  return fractions.reduce(plus, [0n, 1n]);
}

function plus([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return b === d ? [a + c, b] : [a * d + c * b, b * d];
}

function minus(a: Fraction, [c, d]: Fraction): Fraction {
  return plus(a, [-c, d]);
}
