import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { proseOf, readPage } from './pages.ts';

/** What somebody reads to decide for Plimsoll, install it and use it. */
const READERS_PATH = ['README.md', 'docs/concepts.md', ...globSync('docs/guides/*.md').toSorted()];
const MAX_WORDS = 15_000;

/** The words of a page: all of it but fenced code; a token without a letter or a digit is not a word. */
function countWords(markdown: string): number {
  const tokens = proseOf(markdown).split(/\s+/);
  return tokens.filter((token) => /[\p{L}\p{N}]/u.test(token)).length;
}

test('words are counted in sentences, lists and tables, and not in code', () => {
  expect(countWords('# One two\n\n- three `four`\n\n```yaml\nno: word\n```\n\n| five | – |\n| --- | --- |\n')).toBe(5);
});

test(`README, concepts and guides have at most ${MAX_WORDS} words together`, () => {
  const counts = READERS_PATH.map((page) => [page, countWords(readPage(page))] as const);
  const total = counts.reduce((sum, [, words]) => sum + words, 0);
  expect(total, counts.map(([page, words]) => `${page}: ${words}`).join('\n')).toBeLessThanOrEqual(MAX_WORDS);
});
