import { InputError } from '#cli/process-io.ts';

/** What kubectl calls the kinds that commands take by name, with its short forms. */
const TYPES = {
  pod: ['pod', 'pods', 'po'],
  node: ['node', 'nodes', 'no'],
  quota: [
    ...['quota', 'priorityquota', 'priorityquotas', 'prquota'],
    ...['priorityquota.plimsoll.dev', 'priorityquotas.plimsoll.dev'],
  ],
} as const;

export type ObjectType = keyof typeof TYPES;

/** The kind that a word of kubectl means; `undefined` for another word. */
export function objectType(word: string): ObjectType | undefined {
  return (Object.keys(TYPES) as readonly ObjectType[]).find((type) => isType(word, type));
}

/** The name in `NAME` or `TYPE/NAME`. Throws an InputError where the type is another one. */
export function nameOfType(text: string, expected: ObjectType): string {
  const [word = '', name] = text.split('/', 2);
  if (name === undefined) return text;
  if (isType(word, expected) && name !== '') return name;
  throw new InputError(`expected NAME or ${expected}/NAME, got ${text}`);
}

/** Whether a word of kubectl means this kind. */
export function isType(word: string, type: ObjectType): boolean {
  const words: readonly string[] = TYPES[type];
  return words.includes(word);
}
