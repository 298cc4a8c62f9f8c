import { describe, expect, test } from 'vitest';
import { putBounded } from '#shared/domain/base/memoize.ts';

describe('putBounded', () => {
  test('of more entries than the most the oldest is forgotten', () => {
    const map = new Map<string, number>();
    for (const [index, key] of ['a', 'b', 'c'].entries()) putBounded(map, 2, [key, index]);
    expect([...map]).toEqual([
      ['b', 1],
      ['c', 2],
    ]);
  });

  test('an entry that is put again becomes the latest', () => {
    const map = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    putBounded(map, 2, ['a', 3]);
    putBounded(map, 2, ['c', 4]);
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });
});
