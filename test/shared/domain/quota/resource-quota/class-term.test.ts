import { describe, expect, test } from 'vitest';
import { matchesClass } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { term } from '#test/shared/domain/quota/builders.ts';

const PREFIX = 'failed to parse and convert selector: ';
const SHAPE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const LONG = 'c'.repeat(64);

describe('matchesClass', () => {
  test.each<[string, string, readonly string[], string | undefined, boolean]>([
    ['In finds the class', 'In', ['low', 'high'], 'high', true],
    ['In misses another class', 'In', ['low'], 'high', false],
    ['In misses a pod without a class', 'In', ['low'], undefined, false],
    ['NotIn excludes the class', 'NotIn', ['high'], 'high', false],
    ['NotIn takes another class', 'NotIn', ['low'], 'high', true],
    ['NotIn takes a pod without a class', 'NotIn', ['low'], undefined, true],
    ['Exists takes any class', 'Exists', [], 'high', true],
    ['Exists ignores values, also impossible ones', 'Exists', ['-bad-'], 'high', true],
    ['Exists misses a pod without a class', 'Exists', [], undefined, false],
    ['DoesNotExist takes a pod without a class', 'DoesNotExist', [], undefined, true],
    ['DoesNotExist excludes any class', 'DoesNotExist', [], 'high', false],
    ['a value of 63 bytes is the longest', 'In', ['c'.repeat(63)], 'high', false],
    ['an empty value is a label value', 'In', [''], 'high', false],
  ])('%s', (_, operator, values, className, matches) => {
    expect(matchesClass(term('PriorityClass', operator, ...values), className)).toEqual({ ok: true, matches });
  });

  test.each<[string, string, readonly string[], string]>([
    ['an unknown operator', 'in', ['high'], '"in" is not a valid scope selector operator'],
    [
      'In without values',
      'In',
      [],
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      'DoesNotExist with values',
      'DoesNotExist',
      ['a', 'b'],
      'values: Invalid value: ["a","b"]: values set must be empty for exists and does not exist',
    ],
    [
      'a class name too long for a label',
      'NotIn',
      ['a', LONG],
      `values[1][PriorityClass]: Invalid value: "${LONG}": must be no more than 63 bytes`,
    ],
    ['bytes are counted, not characters', 'In', ['é'.repeat(32)], tooLongAndMisshaped('é'.repeat(32))],
    ['a value that starts wrong', 'In', ['-bad'], `values[0][PriorityClass]: Invalid value: "-bad": ${SHAPE}`],
    ['a value wrong inside', 'In', ['a b'], `values[0][PriorityClass]: Invalid value: "a b": ${SHAPE}`],
    [
      'several values',
      'In',
      [LONG, '-bad-'],
      `[values[0][PriorityClass]: Invalid value: "${LONG}": must be no more than 63 bytes, ` +
        `values[1][PriorityClass]: Invalid value: "-bad-": ${SHAPE}]`,
    ],
  ])('cannot evaluate %s', (_, operator, values, message) => {
    const answer = matchesClass(term('PriorityClass', operator, ...values), 'high');
    expect(answer).toEqual({ ok: false, message: PREFIX + message });
  });
});

function tooLongAndMisshaped(value: string): string {
  return `values[0][PriorityClass]: Invalid value: "${value}": must be no more than 63 bytes; ${SHAPE}`;
}
