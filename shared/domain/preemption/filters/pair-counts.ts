/** Numbers of matching pods by topology pair, a node's label key and value. */
export interface PairCounts {
  readonly get: (key: string, value: string) => number;
  readonly add: (key: string, value: string, by: number) => void;
  /** How many pairs have a number other than 0. */
  readonly size: () => number;
}

/** Counts that start at nothing, or at what others say now; those are then left as they are. */
export function createPairCounts(below?: PairCounts): PairCounts {
  const own = new Map<string, Map<string, number>>();
  let size = below?.size() ?? 0;
  const get = (key: string, value: string): number => own.get(key)?.get(value) ?? below?.get(key, value) ?? 0;
  return {
    get,
    add: (key, value, by) => {
      const before = get(key, value);
      const ofKey = own.get(key);
      if (ofKey === undefined) own.set(key, new Map([[value, before + by]]));
      else ofKey.set(value, before + by);
      size += Number(before + by !== 0) - Number(before !== 0);
    },
    size: () => size,
  };
}
