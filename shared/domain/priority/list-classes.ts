/** So that a sentence with the list stays below the 5 KiB that the API server shows of one. */
const LONGEST = 1_500;

/** Names of classes in words: `none`, or as many as a message has room for and how many more there are. */
export function listClasses(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    length += name.length + SEPARATION;
    if (length > LONGEST) break;
    shown.push(`\`${name}\``);
  }
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Quotes, comma and space. */
const SEPARATION = 4;
