/** A part that is held. */
export interface Share {
  /** Gives it back; once is enough. */
  end(): void;
}

/** Something of which there is only so much, held by many who must not take it from one another. */
export interface FairShares {
  /** A share of `cost`; `undefined` when one of the holders has as much as may be. */
  take(holders: readonly string[], cost: number): Share | undefined;
}

/**
 * Nobody may hold more than what is left free, as switches share their buffers (Choudhury and Hahne, dynamic
 * thresholds): one holder alone gets half of `total`, of n greedy ones each gets 1/(n+1), and as much stays free for
 * whoever comes next.
 */
export function createFairShares(total: number): FairShares {
  const held = new Map<string, number>();
  let free = total;

  function add(holders: readonly string[], cost: number): void {
    free -= cost;
    for (const holder of holders) {
      const now = (held.get(holder) ?? 0) + cost;
      if (now === 0) held.delete(holder);
      else held.set(holder, now);
    }
  }

  return {
    take: (holders, cost) => {
      if (cost > free || holders.some((holder) => (held.get(holder) ?? 0) + cost > free)) return undefined;
      add(holders, cost);
      let isHeld = true;
      return {
        end: () => {
          if (isHeld) add(holders, -cost);
          isHeld = false;
        },
      };
    },
  };
}
