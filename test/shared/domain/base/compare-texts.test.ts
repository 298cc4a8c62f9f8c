import { describe, expect, test } from 'vitest';
import { byName, compareTexts } from '#shared/domain/base/texts.ts';

describe('compareTexts', () => {
  test('orders by code units, and equal texts are equal', () => {
    expect(['b', 'Z', 'é', 'a', 'b'].toSorted(compareTexts)).toEqual(['Z', 'a', 'b', 'b', 'é']);
    expect(compareTexts('a', 'a')).toBe(0);
  });

  test('byName looks at the name alone', () => {
    const [first, second] = [
      { name: 'a', order: 2 },
      { name: 'b', order: 1 },
    ].toSorted(byName);
    expect([first?.name, second?.name]).toEqual(['a', 'b']);
  });
});
