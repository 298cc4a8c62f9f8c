import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { finish } from '#test/build/finish.ts';
import type { PriorityPolicy, ClassRule } from '#shared/domain/priority/classes-and-policies.ts';
import { reviewPolicies } from '#shared/domain/priority-rules/review-policies.ts';
import { buildClass, buildPolicy } from '#test/build/admission.ts';
import { selectorOf } from '#test/build/cluster.ts';

const CLASSES = new Map(
  [
    buildClass('high', 1_000),
    buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
    buildClass('low', 10),
    buildClass('low-never', 10, { preemptionPolicy: 'Never' }),
  ].map((each) => [each.name, each]),
);
const NAMESPACES = [new Map([['team', 'a']])];

function ruleOf(name: string, className: string): ClassRule {
  return { name, className, pods: prepareSelector(selectorOf({ role: 'front' })), ownerKinds: [] };
}

function review(...policies: Partial<PriorityPolicy>[]) {
  const built = policies.map((fields, index) => buildPolicy(`p${index}`, fields));
  return finish(reviewPolicies({ policies: built, classes: CLASSES, namespaces: NAMESPACES }));
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
    'a default that preempts where preemption is forbidden': {
      policy: { defaultClassName: 'high', preemption: 'Never' },
      says: [
        'defaultPriorityClassName: class `high` preempts, which preemption Never forbids: pods without a class are refused',
      ],
    },
    'nothing about a default whose substitute never preempts': {
      policy: { defaultClassName: 'high', preemption: 'Never', substitutes: new Map([['high', 'high-never']]) },
      says: [],
    },
    'rules whose class does not exist, is refused, or that can take no pod': {
      policy: {
        maxPriority: 10,
        classRules: [
          ruleOf('a', 'gone'),
          ruleOf('b', 'high'),
          { ...ruleOf('c', 'low'), pods: prepareSelector(undefined) },
        ],
      },
      says: [
        'classRules[a].priorityClassName: there is no class `gone`',
        'classRules[b].priorityClassName: class `high` (1000) is above maxPriority 10: pods that get it are refused',
        'classRules[c].podSelector: it selects no pod',
      ],
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
        'substitutePriorityClassNames[x]: there is no class `x`',
      ],
    },
    'a substitute that may not be used': {
      policy: {
        preemption: 'Never',
        defaultClassName: 'high',
        allowedClassNames: ['high'],
        substitutes: new Map([['high', 'high-never']]),
      },
      says: [
        'defaultPriorityClassName: class `high` is replaced by `high-never`, which is not among allowedPriorityClassNames: pods without a class are refused',
        'allowedPriorityClassNames: class `high` is replaced by `high-never`, which is not among allowedPriorityClassNames',
        'substitutePriorityClassNames[high]: class `high-never` is not among allowedPriorityClassNames',
      ],
    },
    'a substitute above the ceiling': {
      policy: { preemption: 'Never', maxPriority: 10, substitutes: new Map([['high', 'high-never']]) },
      says: ['substitutePriorityClassNames[high]: class `high-never` (1000) is above maxPriority 10'],
    },
    'substitutes where preemption is allowed': {
      policy: { substitutes: new Map([['high', 'high-never']]) },
      says: ['substitutePriorityClassNames: nothing is replaced while preemption is Allow'],
    },
    'a default outside the list': {
      policy: { defaultClassName: 'high', allowedClassNames: ['low'] },
      says: [
        'defaultPriorityClassName: class `high` is not among allowedPriorityClassNames: pods without a class are refused',
      ],
    },
    'an allowed class that preempts where preemption is forbidden': {
      policy: { allowedClassNames: ['low', 'high-never'], preemption: 'Never' },
      says: ['allowedPriorityClassNames: class `low` preempts, which preemption Never forbids'],
    },
    'a quota demanded for a class above the ceiling': {
      policy: { maxPriority: 10, requireQuotaFor: ['high', 'low'] },
      says: ['requireQuotaFor: class `high` can never be used here'],
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

  const conflicts: Record<string, { policy: Partial<PriorityPolicy>; other: Partial<PriorityPolicy>; says: string[] }> =
    {
      'that two lists leave nothing': {
        policy: { allowedClassNames: ['high'] },
        other: { allowedClassNames: ['low'] },
        says: ['policy `p1` allows none of the classes that this one allows: where both hold, no pod is let in'],
      },
      'what two lists leave': {
        policy: { allowedClassNames: ['high', 'low'] },
        other: { allowedClassNames: ['low', 'high-never'] },
        says: ['policy `p1` allows other classes; where both hold, only `low`'],
      },
      'nothing of two lists that say the same': {
        policy: { allowedClassNames: ['high', 'low'] },
        other: { allowedClassNames: ['low', 'high'] },
        says: [],
      },
      'which ceiling counts': {
        policy: { maxPriority: 1_000 },
        other: { maxPriority: 10 },
        says: ['policy `p1` has maxPriority 10; the lower one, 10, counts'],
      },
      'that the other refuses the default of this one': {
        policy: { defaultClassName: 'high' },
        other: { maxPriority: 10 },
        says: ['policy `p1` does not allow class `high`, the default of this one: pods that get it are refused'],
      },
      'that the other refuses what a rule of this one gives': {
        policy: { classRules: [ruleOf('r', 'high')] },
        other: { allowedClassNames: ['low'] },
        says: ['policy `p1` does not allow class `high`, which classRules[r] gives: pods that get it are refused'],
      },
      'which substitute counts': {
        policy: { preemption: 'Never', substitutes: new Map([['high', 'high-never']]) },
        other: { preemption: 'Never', substitutes: new Map([['high', 'low-never']]) },
        says: ['policy `p1` replaces class `high` by `low-never`; the first by name counts: `high-never`'],
      },
    };
  test.each(Object.entries(conflicts))('tells %s', (_, { policy, other, says }) => {
    expect(review(policy, other)[0]?.conflicts).toEqual(says);
  });

  test('comes to the same whatever the order of policies', () => {
    const policies = [
      buildPolicy('a', { defaultClassName: 'high', maxPriority: 2_000 }),
      buildPolicy('b', { defaultClassName: 'low', maxPriority: 500 }),
      buildPolicy('c', { allowedClassNames: ['low'] }),
    ];
    const byName = (order: readonly PriorityPolicy[]) => {
      const reviews = finish(reviewPolicies({ policies: order, classes: CLASSES, namespaces: NAMESPACES }));
      return new Map(reviews.map(({ policy, conflicts: told }) => [policy, told.toSorted()]));
    };
    expect(byName(policies.toReversed())).toEqual(byName(policies));
  });

  test('sees no conflict between policies for different people', () => {
    const subjects = (name: string) => ({ subjects: [{ kind: 'User', name }] as const });
    const reviews = review(
      { defaultClassName: 'high', ...subjects('a') },
      { defaultClassName: 'low', ...subjects('b') },
    );
    expect(reviews.flatMap(({ conflicts }) => conflicts)).toEqual([]);
  });

  test('100 policies over 10,000 namespaces are looked through in small steps', () => {
    const namespaces = Array.from({ length: 10_000 }, (_, index) => new Map([['name', `ns-${index}`]]));
    const policies = Array.from({ length: 100 }, (_, index) =>
      buildPolicy(`p${index}`, {
        namespaces: prepareSelector(selectorOf({ name: `ns-${index % 50}` })),
        maxPriority: index,
        allowedClassNames: ['low', 'high'],
      }),
    );
    const steps = reviewPolicies({ policies, classes: CLASSES, namespaces });
    let dearest = 0;
    let total = 0;
    for (;;) {
      const before = process.threadCpuUsage();
      const step = steps.next();
      const { user, system } = process.threadCpuUsage(before);
      dearest = Math.max(dearest, (user + system) / 1_000);
      total += (user + system) / 1_000;
      if (step.done !== true) continue;
      expect(step.value.map(({ conflicts }) => conflicts.length)).toEqual(policies.map(() => 1));
      break;
    }
    expect(dearest).toBeLessThan(20);
    expect(total).toBeLessThan(2_000);
  });
});
