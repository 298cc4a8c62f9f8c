/** Computes a value once for each key and keeps it as long as the function. */
export function memoize<K, V>(compute: (key: K) => V): (key: K) => V {
  const kept = new Map<K, V>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined || kept.has(key)) return known as V;
    const value = compute(key);
    kept.set(key, value);
    return value;
  };
}

/** Puts a value at the end of a map; of more than `most` entries the oldest is forgotten. */
export function putBounded<K, V>(map: Map<K, V>, most: number, [key, value]: readonly [K, V]): void {
  map.delete(key);
  map.set(key, value);
  const [oldest = key] = map.keys();
  if (map.size > most) map.delete(oldest);
}
