const MOST = 3;

/** The first items of a list, and how many more there are: `a, b, c and 4 more`. */
export function listSome(texts: readonly string[], isPartial = false): string {
  const more = texts.length - MOST;
  if (more > 0) return `${texts.slice(0, MOST).join(', ')} and ${isPartial ? 'at least ' : ''}${more} more`;
  return `${texts.join(', ')}${isPartial ? ' and perhaps more' : ''}`;
}
