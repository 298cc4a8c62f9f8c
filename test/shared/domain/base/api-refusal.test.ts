import { describe, expect, test } from 'vitest';
import { invalid } from '#sandbox/api-server/admission/validate-class.ts';
import { displayName, forbidden, joinFieldErrors, untypedError } from '#shared/domain/base/api-refusal.ts';
import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';

describe('refusals', () => {
  test.each([
    ['forbidden', forbidden('pods', 'a', 'no'), [403, 'Forbidden', 'pods "a" is forbidden: no']],
    ['invalid', invalid('Kind.group', 'a"', ['x']), [422, 'Invalid', 'Kind.group "a\\"" is invalid: x']],
    ['untyped', untypedError('broken'), [500, undefined, 'broken']],
  ])('%s', (_, { code, reason, message }, expected) => {
    expect([code, reason, message]).toEqual(expected);
  });

  test.each([
    [['a'], 'a'],
    [['a', 'b'], '[a, b]'],
    [['a', 'a'], 'a'],
  ])('errors %j are joined', (errors, expected) => {
    expect(joinFieldErrors(errors)).toBe(expected);
  });

  test.each([
    ['the name', { name: 'web-1', generateName: 'web-' }, 'web-1'],
    ['what the name will be made of', { name: '', generateName: 'web-' }, 'web-'],
    ['neither', { name: '', generateName: undefined }, 'Unknown'],
  ])('an object is shown by %s', (_, object, expected) => {
    expect(displayName(object)).toBe(expected);
  });
});

describe('subdomainFaults', () => {
  test.each([
    ['a.b-c.1', 0],
    ['b'.repeat(253), 0],
    ['b'.repeat(254), 1],
    ['-a', 1],
    ['a..b', 1],
    ['Ä'.repeat(200), 2],
  ])('%s', (text, count) => {
    expect(subdomainFaults(text)).toHaveLength(count);
  });
});
