/** The value below which a share of the others lie; of no values, 0. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Rounded to three digits after the point. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
