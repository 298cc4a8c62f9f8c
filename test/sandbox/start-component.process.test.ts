import { expect, test } from 'vitest';
import { lastWords } from '#sandbox/start-component.ts';

test.each([
  [
    'the error of a crash',
    ['file:///x.ts:2', 'SyntaxError: no such export', '    at y', 'Node.js v24.21.0'],
    'SyntaxError: no such export',
  ],
  ['the last of several mistakes', ['cannot read "a"', 'cannot read "b"'], 'cannot read "b"'],
  ['the last line where none speaks of an error', ['Started', 'Stopping'], 'Stopping'],
  ['nothing where nothing was written', [], undefined],
])('lastWords finds %s', (_what, lines, words) => {
  expect(lastWords(lines)).toBe(words);
});
