/** How much work something may cost that nothing depends on. */
export interface WorkLimit {
  /** Whether so much more may be done; once it is too much, everything is. */
  take(cost: number): boolean;
}

/** A limit of `total` units. */
export function createWorkLimit(total: number): WorkLimit {
  let left = total;
  return {
    take: (cost) => {
      left -= cost;
      return left >= 0;
    },
  };
}
