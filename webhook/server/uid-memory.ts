/** Remembers which content came with which request uid. */
export interface UidMemory {
  /** Whether this uid has come lately with other content, and remembers it. */
  isReused(uid: string, fingerprint: number): boolean;
}

/** Twice this many of the latest uids are remembered: at 1,000 reviews a second some ten seconds. */
const GENERATION = 8_192;

/** Two generations, of which the older one is forgotten as a whole: nothing is searched for what to forget. */
export function createUidMemory(generation = GENERATION): UidMemory {
  let older = new Map<string, number>();
  let newer = new Map<string, number>();
  return {
    isReused: (uid, fingerprint) => {
      const known = newer.get(uid) ?? older.get(uid);
      if (newer.size >= generation) {
        older = newer;
        newer = new Map();
      }
      newer.set(uid, fingerprint);
      return known !== undefined && known !== fingerprint;
    },
  };
}
