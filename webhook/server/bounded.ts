const MOST_CHARACTERS = 500;

/**
 * Shortens a text for an answer: the API server truncates warnings beyond 4 KiB in total, and keeps audit annotations
 * in memory.
 */
export function bounded(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
