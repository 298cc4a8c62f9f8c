/** Puts a value at the end of a map; of more than `most` entries the oldest is forgotten. */
export function putBounded<K, V>(map: Map<K, V>, most: number, [key, value]: readonly [K, V]): void {
  map.delete(key);
  map.set(key, value);
  const [oldest = key] = map.keys();
  if (map.size > most) map.delete(oldest);
}
