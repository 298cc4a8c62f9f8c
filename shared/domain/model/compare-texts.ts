/** Orders texts by code units, the same on every machine. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Orders by name. */
export function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return compareTexts(left.name, right.name);
}
