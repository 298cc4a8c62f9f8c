const ANYTHING = '<anything>';
/** Stands for any whole number in a text of a catalogue. */
export const ANY_NUMBER = 987_654_321;

/**
 * A pattern for a whole text of a catalogue in which one value may be anything, and each `ANY_NUMBER` any whole number:
 * `patternOf((cause) => ERRORS.list('pods', cause))`.
 */
export function patternOf(text: (anything: string) => string): RegExp {
  const literal = text(ANYTHING).replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll(ANYTHING, '.*').replaceAll(String(ANY_NUMBER), '\\d+')}$`);
}
