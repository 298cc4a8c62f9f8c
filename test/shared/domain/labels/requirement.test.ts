import { describe, expect, test } from 'vitest';
import { isValidRequirement, meetsRequirement } from '#shared/domain/labels/label-selector.ts';

const LABELS = new Map([
  ['app', 'a'],
  ['gen', '5'],
  ['low', '-9223372036854775808'],
  ['empty', ''],
]);

describe('meetsRequirement', () => {
  test.each([
    ['In finds the value', 'app', 'In', ['a', 'b'], true],
    ['In misses another value', 'app', 'In', ['b'], false],
    ['In misses an absent label', 'tier', 'In', ['a'], false],
    ['NotIn is met by another value', 'app', 'NotIn', ['b'], true],
    ['NotIn is met by an absent label', 'tier', 'NotIn', ['a'], true],
    ['NotIn fails on the value', 'app', 'NotIn', ['a'], false],
    ['Exists takes an empty value', 'empty', 'Exists', [], true],
    ['Exists misses an absent label', 'tier', 'Exists', [], false],
    ['DoesNotExist is met by an absent label', 'tier', 'DoesNotExist', [], true],
    ['DoesNotExist fails on a present label', 'app', 'DoesNotExist', [], false],
    ['Gt compares as integers', 'gen', 'Gt', ['10'], false],
    ['Gt is strict', 'gen', 'Gt', ['5'], false],
    ['Gt takes a larger one', 'gen', 'Gt', ['+4'], true],
    ['Lt takes a smaller one', 'gen', 'Lt', ['10'], true],
    ['Lt reaches the ends of 64 bits', 'low', 'Lt', ['-9223372036854775807'], true],
    ['Gt fails on a label that is no integer', 'app', 'Gt', ['1'], false],
    ['Gt fails on an absent label', 'tier', 'Gt', ['1'], false],
    ['Gt fails without a value', 'gen', 'Gt', [], false],
  ])('%s', (_, key, operator, values, met) => {
    expect(meetsRequirement(LABELS, { key, operator, values })).toBe(met);
  });
});

describe('isValidRequirement', () => {
  test.each([
    ['a value is needed for In', 'app', 'In', [], false],
    ['a value is needed for NotIn', 'app', 'NotIn', [], false],
    ['Exists takes no value', 'app', 'Exists', ['a'], false],
    ['DoesNotExist takes no value', 'app', 'DoesNotExist', ['a'], false],
    ['Gt takes one value', 'app', 'Gt', ['1', '2'], false],
    ['Gt takes integers of 64 bits only', 'app', 'Gt', ['9223372036854775808'], false],
    ['Lt takes no blank', 'app', 'Lt', [' 1'], false],
    ['Lt takes no lone sign', 'app', 'Lt', ['-'], false],
    ['an integer need not be short', 'app', 'Gt', [`${'0'.repeat(60)}1`], true],
    ['an unknown operator is refused', 'app', 'Near', ['a'], false],
    ['the key must be a name', 'a b', 'Exists', [], false],
    ['the values must be label values', 'app', 'In', ['a b'], false],
    ['the empty value is a label value', 'app', 'In', [''], true],
    ['a prefixed key is a name', 'example.com/app', 'In', ['a'], true],
  ])('%s', (_, key, operator, values, valid) => {
    expect(isValidRequirement({ key, operator, values })).toBe(valid);
  });
});
