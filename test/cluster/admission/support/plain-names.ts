/** A text without the suffixes that `uniqueName` added to names. */
export function plainNames(text: string): string {
  return text.replaceAll(/-[0-9a-f]{8}\b/g, '');
}
