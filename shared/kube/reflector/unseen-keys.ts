/** What a fresh list has not shown yet of what was there before it. */
export interface UnseenKeys {
  /** The list, or a change after it, shows this key. */
  readonly see: (key: string) => void;
  /** Begins with these keys; the returned function ends it and removes those that were not seen. */
  readonly begin: (keys: Iterable<string>) => () => void;
}

/** Nothing is unseen before `begin`. */
export function createUnseenKeys(remove: (key: string) => void): UnseenKeys {
  let unseen: Set<string> | undefined;
  return {
    see: (key) => void unseen?.delete(key),
    begin: (keys) => {
      const begun = new Set(keys);
      unseen = begun;
      return () => {
        unseen = undefined;
        begun.forEach(remove);
      };
    },
  };
}
