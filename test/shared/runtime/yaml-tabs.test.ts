import { describe, expect, test } from 'vitest';
import { misplacedTab } from '#shared/runtime/yaml-tabs.ts';

describe('misplacedTab agrees with kubectl 1.36.3', () => {
  test.each([
    '- >a',
    '->a',
    '-  > a',
    '- >"a"',
    '- >[a]',
    '- ># c\n  a',
    '->\n  a',
    '- - >a',
    '- - a\n  ->b',
    'k: &a\n- >b',
    '- >|\n  b',
    '? >a\n: b',
    '? a\n:>b',
    'a: 1\n>\nb: 2',
    'a: "1"\n>\nb: 2',
    'a: "1"\n    >\nb: 2',
    'a: 1 # c\n    >\nb: 2',
    'a: "1"\n># c\nb: 2',
    'a: |\n  >x',
    'a: |\n\n >x',
    'a: "b"\n  >',
    'k:\n  a: 1\n  >\n  b: 2',
    '>',
    '># c',
  ])('the tab that %j shows as ">" is refused', (text) => {
    expect(misplacedTab(text.replace('>', '\t'))).toBe(text.indexOf('>'));
  });

  test.each([
    '- a\t',
    '- a\t# c',
    'a:\tb',
    'a: \tb',
    'a:\t\n  b: c',
    'a\t: b',
    'a: 1\n      \t\nb: 2',
    'a: b\n  \tc',
    'a: &x\tb',
    'a: !!str\tb',
    'a: {b:\tc,\td: e}',
    'a: {b: c,\n  \td: e}',
    'a: |\t\n  b',
    'a: |\n  x\n  \ty',
    'a: |2\n  \tx',
    'a: "b\n  \tc"',
    'a: "- \tb"',
    'a: b - \tc',
    'a: |\n  - \tb',
    '{"a":\n\t1}',
    'a: b',
  ])('%j is taken', (text) => {
    expect(misplacedTab(text)).toBeUndefined();
  });
});
