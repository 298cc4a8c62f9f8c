import { describe, expect, test } from 'vitest';
import { listMutants } from '#tools/mutate/list-mutants.ts';

/** The changes to a source, as `FROM → TO`. */
function changes(text: string): readonly string[] {
  return listMutants('a.ts', text).map(({ from, to }) => `${from} → ${to}`);
}

describe('listMutants', () => {
  test.each<[string, string, readonly string[]]>([
    ['bounds', 'f(a < b);', ['f(a < b); → ;', '< → <=', '< → >=']],
    ['equality', 'export const c = a === b;', ['=== → !==']],
    ['what counts together', 'export const c = a && b || d;', ['|| → &&', '&& → ||']],
    ['defaults', 'export const c = a ?? b;', ['a ?? b → (a)']],
    ['sums, but not joined texts', "export const c = [a + b, 'x' + b];", ["[a + b, 'x' + b] → []", '+ → -']],
    ['conditions', 'export const c = a ? b : d;', ['a → true', 'a → false']],
    ['negations', 'export const c = !a;', ['!a → a']],
    ['literals', 'export const c = [true, 5];', ['[true, 5] → []', 'true → false', '5 → (5 + 1)']],
    ['calls that have an opposite', 'export const c = a.some(b);', ['some → every']],
    [
      'calls that can be left out',
      'export const c = a.filter(b).slice(d);',
      ['a.filter(b).slice(d) → a.filter(b)', 'a.filter(b) → [...a]'],
    ],
    ['no types, imports or names', "import { a } from './a.ts'; export interface B { readonly c: 1 | true }", []],
  ])('%s', (_, text, expected) => {
    expect(changes(text)).toEqual(expected);
  });

  test('a mutant is the whole source with one change, and says where it is', () => {
    expect(
      listMutants('a.ts', 'export const a = 1;\nexport const b = a > c;\n').map(({ line, text }) => [line, text]),
    ).toEqual([
      [1, 'export const a = (1 + 1);\nexport const b = a > c;\n'],
      [2, 'export const a = 1;\nexport const b = a >= c;\n'],
      [2, 'export const a = 1;\nexport const b = a <= c;\n'],
    ]);
  });
});
