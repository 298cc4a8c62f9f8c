import { describe, expect, test } from 'vitest';
import { minus, plus, wholeFrom, type Whole } from '#shared/domain/quantity/whole.ts';

const LARGEST = Number.MAX_SAFE_INTEGER;

describe('whole numbers', () => {
  test.each<[string, Whole, Whole, Whole, Whole]>([
    ['small ones stay numbers', 2, 3, 5, -1],
    ['a sum beyond 2^53 becomes a bigint', LARGEST, 1, 9007199254740992n, LARGEST - 1],
    ['a bigint that shrinks becomes a number again', 9007199254740993n, 2, 9007199254740995n, LARGEST],
    ['both may be large', 2n ** 63n, 2n ** 63n, 2n ** 64n, 0],
    ['negative ones too', -LARGEST, 2, -LARGEST + 2, -9007199254740993n],
  ])('%s', (_, a, b, sum, difference) => {
    expect([plus(a, b), minus(a, b)]).toEqual([sum, difference]);
  });

  test('a bigint takes its shortest form', () => {
    expect([wholeFrom(7n), wholeFrom(2n ** 60n)]).toEqual([7, 2n ** 60n]);
  });
});
