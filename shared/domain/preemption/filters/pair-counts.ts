/** Numbers of matching pods by topology pair, a node's label key and value. */
export interface PairCounts {
  readonly get: (key: string, value: string) => number;
  readonly add: (key: string, value: string, by: number) => void;
  /** How many pairs have a number other than 0. */
  readonly size: () => number;
}

/** Counts that start at nothing, or at what others say now; those are then left as they are. */
export function createPairCounts(below?: PairCounts): PairCounts {
  const own = new Map<string, number>();
  let size = below?.size() ?? 0;
  const get = (key: string, value: string): number => own.get(pairOf(key, value)) ?? below?.get(key, value) ?? 0;
  return {
    get,
    add: (key, value, by) => {
      const before = get(key, value);
      own.set(pairOf(key, value), before + by);
      size += Number(before + by !== 0) - Number(before !== 0);
    },
    size: () => size,
  };
}

/** No label holds a line break. */
function pairOf(key: string, value: string): string {
  return `${key}\n${value}`;
}
