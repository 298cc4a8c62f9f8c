const MOST_CHARACTERS = 500;

/** A text for an answer: the API server cuts warnings off beyond 4 KiB in all, and keeps audit annotations in memory. */
export function bounded(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
