/** Computes a value once for each key and keeps it as long as the function. */
export function memoize<K, V>(compute: (key: K) => V): (key: K) => V {
  const kept = new Map<K, { readonly value: V }>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known.value;
    const value = compute(key);
    kept.set(key, { value });
    return value;
  };
}
