import { describe, expect, test } from 'vitest';
import { memoize } from '#shared/domain/base/memoize.ts';

describe('memoize', () => {
  test('each key is computed once, also where nothing comes out', () => {
    const computed: string[] = [];
    const lengthOf = memoize((text: string) => {
      computed.push(text);
      return text === '' ? undefined : text.length;
    });
    expect(['a', '', 'a', ''].map(lengthOf)).toEqual([1, undefined, 1, undefined]);
    expect(computed).toEqual(['a', '']);
  });
});
