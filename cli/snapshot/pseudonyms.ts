import { createHmac } from 'node:crypto';

/** What a name refers to; names of different sorts are independent. */
export type Sort =
  | 'ns'
  | 'queue'
  | 'pod'
  | 'container'
  | 'owner'
  | 'pdb'
  | 'limit'
  | 'quota'
  | 'configmap'
  | 'user'
  | 'value'
  | 'volume';

/** Replaces names: the same name of the same sort always gets the same text. */
export type Pseudonym = (sort: Sort, name: string) => string;

/** Long enough that a million names collide only once in a million files. */
const HEX_DIGITS = 15;

/** Pseudonyms by a keyed hash: without the key, guessed names cannot be verified. An empty name stays empty. */
export function createPseudonyms(key: Uint8Array): Pseudonym {
  const known = new Map<string, string>();
  return (sort, name) => {
    if (name === '') return name;
    const id = `${sort} ${name}`;
    const found = known.get(id) ?? `${sort}-${createHmac('sha256', key).update(id).digest('hex').slice(0, HEX_DIGITS)}`;
    known.set(id, found);
    return found;
  };
}
