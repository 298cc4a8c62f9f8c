import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { reviewPolicies } from '#shared/domain/priority/review-policies.ts';
import { buildClass, buildPolicy } from '#test/build/admission.ts';
import { selectorOf } from '#test/build/cluster.ts';

const CLASSES = new Map(
  [
    buildClass('high', 1_000),
    buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
    buildClass('low', 10),
  ].map((each) => [each.name, each]),
);
const NAMESPACES = [new Map([['team', 'a']])];

function review(...policies: Partial<PriorityPolicy>[]) {
  const built = policies.map((fields, index) => buildPolicy(`p${index}`, fields));
  return reviewPolicies({ policies: built, classes: CLASSES, namespaces: NAMESPACES });
}

describe('reviewPolicies', () => {
  const ineffective: Record<string, { policy: Partial<PriorityPolicy>; says: readonly string[] }> = {
    'nothing about a policy that makes sense': {
      policy: { defaultClassName: 'low', maxPriority: 10, preemption: 'Allow' },
      says: [],
    },
    'a default that does not exist': {
      policy: { defaultClassName: 'gone' },
      says: ['defaultPriorityClassName: there is no class `gone`'],
    },
    'a default above the ceiling': {
      policy: { defaultClassName: 'high', maxPriority: 10 },
      says: ['defaultPriorityClassName: class `high` (1000) is above maxPriority 10: pods without a class are refused'],
    },
    'a default that preempts where nobody may': {
      policy: { defaultClassName: 'high', preemption: 'Never' },
      says: [
        'defaultPriorityClassName: class `high` preempts, which preemption Never forbids: pods without a class are refused',
      ],
    },
    'nothing about a default whose substitute never preempts': {
      policy: { defaultClassName: 'high', preemption: 'Never', substitutes: new Map([['high', 'high-never']]) },
      says: [],
    },
    'allowed classes that do not exist': {
      policy: { allowedClassNames: ['low', 'gone'] },
      says: ['allowedPriorityClassNames: there is no class `gone`'],
    },
    'a quota demanded for a class that is not allowed': {
      policy: { allowedClassNames: ['low'], requireQuotaFor: ['high'] },
      says: ['requireQuotaFor: class `high` can never be used here'],
    },
    'substitutes that cannot stand in': {
      policy: {
        preemption: 'Never',
        allowedClassNames: ['low'],
        substitutes: new Map([
          ['high', 'gone'],
          ['low', 'high'],
          ['high-never', 'high-never'],
          ['x', 'high-never'],
        ]),
      },
      says: [
        'substitutePriorityClassNames[high]: there is no class `gone`',
        'substitutePriorityClassNames[low]: class `high` preempts too',
        'substitutePriorityClassNames[high-never]: class `high-never` never preempts and is not replaced',
        'substitutePriorityClassNames[x]: class `high-never` is not among allowedPriorityClassNames',
      ],
    },
    'a selector that selects nothing': {
      policy: { namespaces: prepareSelector(selectorOf({ team: 'none' })) },
      says: ['namespaceSelector: no namespace is selected'],
    },
  };
  test.each(Object.entries(ineffective))('tells %s', (_, { policy, says }) => {
    expect(review(policy)[0]).toEqual({ policy: 'p0', ineffective: says, conflicts: [] });
  });

  test('tells both policies which default counts', () => {
    const reviews = review({ defaultClassName: 'high' }, { defaultClassName: 'low' });
    expect(reviews.map(({ conflicts }) => conflicts)).toEqual([
      ['policy `p1` gives default class `low`; the lower one, `low`, counts'],
      ['policy `p0` gives default class `high`; the lower one, `low`, counts'],
    ]);
  });

  test('tells that two lists leave nothing', () => {
    expect(review({ allowedClassNames: ['high'] }, { allowedClassNames: ['low'] })[0]?.conflicts).toEqual([
      'policy `p1` allows none of the classes that this one allows: where both hold, no pod is let in',
    ]);
  });

  test('sees no conflict between policies for different people', () => {
    const subjects = (name: string) => ({ subjects: [{ kind: 'User', name }] as const });
    const reviews = review(
      { defaultClassName: 'high', ...subjects('a') },
      { defaultClassName: 'low', ...subjects('b') },
    );
    expect(reviews.flatMap(({ conflicts }) => conflicts)).toEqual([]);
  });
});
