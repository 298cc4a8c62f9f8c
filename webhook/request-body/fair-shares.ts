/** A share that a holder has taken. */
export interface Share {
  /** Gives it back; further calls do nothing. */
  end(): void;
}

/** A limited amount that many holders share fairly. */
export interface FairShares {
  /** Takes a share of `cost`; `undefined` when one of the holders has reached its limit. */
  take(holders: readonly string[], cost: number): Share | undefined;
}

/**
 * No holder may hold more than what is left free, as switches share their buffers (Choudhury and Hahne, dynamic
 * thresholds): a single holder gets half of `total`, each of n greedy holders gets 1/(n+1), and as much stays free for
 * the next one.
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
