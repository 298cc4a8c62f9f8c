import { describe, expect, test } from 'vitest';
import { listMutants } from '#tools/mutate/list-mutants.ts';
import { switchedSource } from '#tools/mutate/switched-source.ts';

function switched(text: string): string {
  const mutants = listMutants('a.ts', text);
  const source = mutants[0]?.change.node.getSourceFile();
  if (source === undefined) throw new Error('there is no mutant');
  return switchedSource(
    source,
    mutants.map(({ change }) => change),
    10,
  );
}

describe('switchedSource', () => {
  test.each([
    ['an expression', 'export const c = a === b;', 'export const c = (mutants.is(10) ? a !== b : a === b);'],
    [
      'several at one place',
      'export const c = a < b;',
      'export const c = (mutants.is(10) ? a <= b : (mutants.is(11) ? a >= b : a < b));',
    ],
    [
      'one within another',
      'export const c = !(a && b);',
      'export const c = (mutants.is(10) ? (a && b) : !(mutants.is(11) ? (a || b) : (a && b)));',
    ],
    ['a statement', 'a();', 'if (mutants.is(10)) {;} else {a();}'],
    [
      'the whole of a chain, which may end early',
      'export const c = a?.slice(1).length;',
      'export const c = (mutants.is(10) ? a.length : a?.slice((mutants.is(11) ? (1 + 1) : 1)).length);',
    ],
  ])('chooses between %s', (_, text, expected) => {
    expect(switched(text)).toBe(expected);
  });
});
