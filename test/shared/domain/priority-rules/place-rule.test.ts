import { expect, test } from 'vitest';
import { placeRule } from '#shared/domain/priority-rules/fit-rules.ts';

const MANY = Array.from({ length: 65 }, (_, index) => `v${index}`);

test.each<[string, Parameters<typeof placeRule>[0], ReturnType<typeof placeRule>]>([
  ['nothing asked', [], { label: undefined, tests: [] }],
  [
    'an equality leads, the rest is tested',
    [
      { key: 'tier', operator: 'Exists', values: [] },
      { key: 'team', operator: 'In', values: ['a'] },
      { key: 'test', operator: 'DoesNotExist', values: [] },
      { key: 'zone', operator: 'NotIn', values: ['x', 'y'] },
    ],
    {
      label: { key: 'team', values: ['a'] },
      tests: [
        { key: 'tier', values: undefined, is: true },
        { key: 'test', values: undefined, is: false },
        { key: 'zone', values: ['x', 'y'], is: false },
      ],
    },
  ],
  [
    'the equality with the fewest values leads, and each value once',
    [
      { key: 'a', operator: 'In', values: ['1', '2', '3'] },
      { key: 'b', operator: 'In', values: ['1', '1'] },
    ],
    { label: { key: 'b', values: ['1'] }, tests: [{ key: 'a', values: ['1', '2', '3'], is: true }] },
  ],
  [
    'too many values lead nowhere',
    [{ key: 'a', operator: 'In', values: MANY }],
    { label: undefined, tests: [{ key: 'a', values: MANY, is: true }] },
  ],
])('%s', (_, requirements, place) => {
  expect(placeRule(requirements)).toEqual(place);
});
