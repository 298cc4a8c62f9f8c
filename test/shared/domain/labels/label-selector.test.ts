import { describe, expect, test } from 'vitest';
import {
  isSameSelector,
  prepareSelector,
  type LabelSelector,
  type Requirement,
} from '#shared/domain/labels/label-selector.ts';

const LABELS = new Map([['app', 'a']]);

function selector(labels: Readonly<Record<string, string>>, ...matchExpressions: Requirement[]): LabelSelector {
  return { matchLabels: new Map(Object.entries(labels)), matchExpressions };
}

describe('prepareSelector', () => {
  test.each([
    ['an absent selector matches nothing', undefined, { isEmpty: false, matches: false }],
    ['an empty selector matches everything', selector({}), { isEmpty: true, matches: true }],
    ['labels must be equal', selector({ app: 'a' }), { isEmpty: false, matches: true }],
    ['all labels must be there', selector({ app: 'a', tier: 'db' }), { isEmpty: false, matches: false }],
    [
      'expressions count besides labels',
      selector({ app: 'a' }, { key: 'app', operator: 'NotIn', values: ['a'] }),
      { isEmpty: false, matches: false },
    ],
    [
      'a selector that the API server would refuse matches nothing',
      selector({}, { key: 'app', operator: 'In', values: [] }),
      { isEmpty: false, matches: false },
    ],
    [
      'comparisons belong to nodes, not to label selectors',
      selector({}, { key: 'tier', operator: 'Lt', values: ['1'] }),
      { isEmpty: false, matches: false },
    ],
  ])('%s', (_, given, want) => {
    const prepared = prepareSelector(given);
    expect({ isEmpty: prepared.isEmpty, matches: prepared.matches(LABELS) }).toEqual(want);
  });
});

describe('isSameSelector', () => {
  test.each([
    ['both absent', undefined, undefined, true],
    ['absent is not empty', undefined, selector({}), false],
    ['the same labels', selector({ app: 'a' }), selector({ app: 'a' }), true],
    ['other labels', selector({ app: 'a' }), selector({ app: 'b' }), false],
    ['other expressions', selector({}), selector({}, { key: 'app', operator: 'Exists', values: [] }), false],
  ])('%s', (_, a, b, same) => {
    expect(isSameSelector(a, b)).toBe(same);
  });
});
