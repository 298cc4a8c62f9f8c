import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePriorityPolicy, encodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { valueOf } from '#test/build/value-of.ts';
import { selector, word } from './generated-fields.ts';

const names = fc.array(word, { minLength: 1, maxLength: 5 });
const subject = fc.oneof(
  fc.record({ kind: fc.constantFrom('User', 'Group'), name: word }),
  fc.record({ kind: fc.constant('ServiceAccount'), name: word, namespace: word }),
);
const classRule = fc.record(
  {
    name: word,
    podSelector: selector,
    ownerKinds: fc.array(word, { minLength: 1, maxLength: 3 }),
    priorityClassName: word,
  },
  { requiredKeys: ['name', 'priorityClassName'] },
);
const spec = fc.record(
  {
    namespaceSelector: selector,
    subjects: fc.array(subject, { minLength: 1, maxLength: 5 }),
    defaultPriorityClassName: word,
    classRules: fc.array(classRule, { minLength: 1, maxLength: 3 }),
    allowedPriorityClassNames: fc.array(word, { maxLength: 5 }),
    maxPriority: fc.integer(),
    preemption: fc.constantFrom('Allow', 'Never'),
    substitutePriorityClassNames: fc.dictionary(word, word, { minKeys: 1, maxKeys: 5, noNullPrototype: true }),
    requireQuotaFor: names,
    runOn: fc.constantFrom('Requested', 'Spare', 'Either'),
    sparePriorityClassNames: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    onViolation: fc.constantFrom('Deny', 'Warn'),
    schedulerName: word,
  },
  { requiredKeys: ['preemption', 'runOn', 'onViolation'] },
);
const policy = fc.record({
  apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
  kind: fc.constant('PriorityPolicy'),
  metadata: fc.record({ name: word }),
  spec,
});

describe('decodePriorityPolicy and encodePriorityPolicy', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(policy, (object) => {
        expect(encodePriorityPolicy(valueOf(decodePriorityPolicy(object)))).toEqual(object);
      }),
      { seed: 14, numRuns: 300 },
    );
  });

  test('what the API server sets by default is written for what is absent', () => {
    const decoded = valueOf(decodePriorityPolicy({ metadata: { name: 'p' } }));
    expect(encodePriorityPolicy(decoded)).toMatchObject({
      spec: { preemption: 'Allow', runOn: 'Requested', onViolation: 'Deny' },
    });
  });

  test.each([
    [{}, 'expected User, Group or ServiceAccount, got ""'],
    [{ kind: 'Pod' }, 'expected User, Group or ServiceAccount, got "Pod"'],
    [{ kind: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown }, 'expected a text, got a list'],
  ])('the kind of a subject is refused by its field: %#', (subject, message) => {
    const read = decodePriorityPolicy({ metadata: { name: 'p' }, spec: { subjects: [{ name: 'a', ...subject }] } });
    expect(read).toEqual({ ok: false, field: 'spec.subjects[0].kind', message });
  });

  test.each([
    [{ allowedPriorityClassNames: ['a', 7] }, 'spec.allowedPriorityClassNames[1]'],
    [{ substitutePriorityClassNames: { 'a.b': 7 } }, 'spec.substitutePriorityClassNames.a.b'],
    [
      { namespaceSelector: { matchExpressions: [{ values: [7] }] } },
      'spec.namespaceSelector.matchExpressions[0].values[0]',
    ],
  ])('%j is refused by the path of its value', (spec, field) => {
    expect(decodePriorityPolicy({ metadata: { name: 'a' }, spec })).toMatchObject({ ok: false, field });
  });

  test('a service account has a namespace', () => {
    const subjects = [{ kind: 'ServiceAccount', name: 'ci' }];
    expect(decodePriorityPolicy({ metadata: { name: 'p' }, spec: { subjects } })).toEqual({
      ok: false,
      field: 'spec.subjects[0].namespace',
      message: 'expected a namespace',
    });
  });
});
