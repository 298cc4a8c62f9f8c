/**
 * A whole number of units (milli for cpu), exact at any size: a `number` while it is safe, a `bigint` beyond.
 * The operators `<` and `>` compare the two forms exactly; add and subtract through the functions here.
 */
export type Whole = number | bigint;

/** The shortest exact form of an integer. */
export function wholeFrom(value: bigint): Whole {
  const short = Number(value);
  return Number.isSafeInteger(short) ? short : value;
}

/** a + b. */
export function plus(a: Whole, b: Whole): Whole {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return wholeFrom(BigInt(a) + BigInt(b));
}

/** The amount at a place that the list has. */
export function amountAt(amounts: readonly Whole[], index: number): Whole {
  return amounts[index] as Whole;
}

/** Adds to the amount at a place that the list has. */
export function addTo(amounts: Whole[], index: number, more: Whole): void {
  amounts[index] = plus(amountAt(amounts, index), more);
}

/** a - b. */
export function minus(a: Whole, b: Whole): Whole {
  return plus(a, -b);
}

/** a × b. */
export function times(a: Whole, b: Whole): Whole {
  // Otherwise a negative number times zero would be -0.
  if (a === 0 || b === 0) return 0;
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product;
  }
  return wholeFrom(BigInt(a) * BigInt(b));
}

/** amount × part / whole, rounded down, for an amount of at least 0 and 0 ≤ part ≤ whole. */
export function shareOf(amount: Whole, part: number, whole: number): Whole {
  if (typeof amount === 'number') {
    // Divides first: the product of the amount and the part may be too large for a double, that of the remainder is not.
    const rest = amount % whole;
    const product = rest * part;
    if (Number.isSafeInteger(product)) return ((amount - rest) / whole) * part + Math.floor(product / whole);
  }
  return wholeFrom((BigInt(amount) * BigInt(part)) / BigInt(whole));
}

/** The larger of two. */
export function larger(a: Whole, b: Whole): Whole {
  return a < b ? b : a;
}

/** The smaller of two. */
export function smaller(a: Whole, b: Whole): Whole {
  return a < b ? a : b;
}
