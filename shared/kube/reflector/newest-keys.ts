/** Keys of objects by their namespace, each namespace's in the order in which they changed last. */
export interface NewestKeys {
  /** Notes a change; returns the key that its namespace now has too many of. */
  readonly add: (key: string) => string | undefined;
  readonly remove: (key: string) => void;
}

/** At most `most` keys of each namespace, so that what one tenant writes takes no room from others. */
export function createNewestKeys(most: number): NewestKeys {
  const byNamespace = new Map<string, Set<string>>();
  return {
    add: (key) => {
      const keys = byNamespace.get(namespaceOf(key)) ?? new Set();
      byNamespace.set(namespaceOf(key), keys);
      keys.delete(key);
      const [oldest] = keys.add(key);
      return keys.size > most ? oldest : undefined;
    },
    remove: (key) => {
      const keys = byNamespace.get(namespaceOf(key));
      keys?.delete(key);
      if (keys?.size === 0) byNamespace.delete(namespaceOf(key));
    },
  };
}

function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}
