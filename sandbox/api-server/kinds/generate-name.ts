import { randomInt } from 'node:crypto';

/** Without vowels and digits that look like letters, so that no words arise. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const LONGEST_BASE = 63 - SUFFIX_LENGTH;

/** A name from `generateName`: the prefix and five random characters. apiserver `pkg/storage/names/generate.go`. */
export function generateName(prefix: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  return prefix.slice(0, LONGEST_BASE) + suffix;
}
