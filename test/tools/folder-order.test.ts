import { describe, expect, test } from 'vitest';
import { findFolderCycles } from '#tools/folder-order.ts';

/** Cycles of files given as `source → imports`. */
function cycles(files: Readonly<Record<string, readonly string[]>>): readonly (readonly string[])[] {
  return findFolderCycles(Object.entries(files).map(([source, imports]) => ({ source, imports })));
}

describe('findFolderCycles', () => {
  test.each<[string, Readonly<Record<string, readonly string[]>>]>([
    ['one folder builds on another', { 'part/a/one.ts': ['part/b/two.ts'], 'part/b/two.ts': [] }],
    [
      'files of one folder import each other',
      { 'part/a/one.ts': ['part/a/two.ts'], 'part/a/two.ts': ['part/a/one.ts'] },
    ],
    ['both build on a file next to them', { 'part/a/one.ts': ['part/both.ts'], 'part/b/two.ts': ['part/both.ts'] }],
    [
      'a file next to them puts them together',
      { 'part/main.ts': ['part/a/one.ts', 'part/b/two.ts'], 'part/a/one.ts': ['part/main.ts'], 'part/b/two.ts': [] },
    ],
  ])('allows that %s', (_, files) => {
    expect(cycles(files)).toEqual([]);
  });

  test('finds two folders that import each other, whatever files do it and how deep', () => {
    const files = { 'part/a/one.ts': ['part/b/two.ts'], 'part/b/deep/three.ts': ['part/a/deep/four.ts'] };
    expect(cycles(files)).toEqual([['part/a', 'part/b', 'part/a']]);
  });

  test('finds a way back over a third folder', () => {
    const files = { 'p/a/x.ts': ['p/b/x.ts'], 'p/b/y.ts': ['p/c/x.ts'], 'p/c/y.ts': ['p/a/y.ts'] };
    expect(cycles(files)).toEqual([['p/a', 'p/b', 'p/c', 'p/a']]);
  });

  test('compares folders that stand next to each other, also inside a part', () => {
    const files = { 'part/x/a/one.ts': ['part/x/b/two.ts'], 'part/x/b/two.ts': ['part/x/a/one.ts', 'other/x.ts'] };
    expect(cycles(files)).toEqual([['part/x/a', 'part/x/b', 'part/x/a']]);
  });
});
