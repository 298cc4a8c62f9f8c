import { describe, expect, test } from 'vitest';
import { decideGroupTemplate, decidePodGroup } from '#shared/domain/admission/decide-validation.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { buildClass, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';

const CLASSES = [buildClass('high', 1_000), buildClass('low', 10)];
const GROUP = buildRequest({ priorityClassName: 'high' }, { serviceAccountName: '' });
const FOR_ALICE = { subjects: [{ kind: 'User', name: 'alice' }] as const };
const given = (...policies: readonly PriorityPolicy[]) => buildWorld({ classes: CLASSES, policies });
const refusedFor = (code: string) => ({ kind: 'refused', code: 403, because: { code } });

describe.each([
  ['decidePodGroup', decidePodGroup],
  ['decideGroupTemplate', decideGroupTemplate],
])('%s', (_, decide) => {
  test.each<[what: string, policy: Partial<PriorityPolicy>, code: string]>([
    ['a class above the ceiling', { maxPriority: 10 }, 'PriorityAboveCeiling'],
    ['a class that is not listed', { allowedClassNames: ['low'] }, 'ClassNotAllowed'],
    ['a class that requires a quota, without one', { requireQuotaFor: ['high'] }, 'QuotaRequired'],
  ])('refuses a person %s', (_what, policy, code) => {
    expect(decide(GROUP, given(buildPolicy('p', { ...FOR_ALICE, ...policy })))).toMatchObject(refusedFor(code));
  });

  test('warns where the policy does', () => {
    const policy = buildPolicy('p', { ...FOR_ALICE, maxPriority: 10, onViolation: 'Warn' });
    const decision = decide(GROUP, given(policy));
    expect([decision.kind, decision.warnings.length]).toEqual(['allowed', 1]);
  });

  test('allows what the policies allow, and leaves preemption and defaults to the pods', () => {
    const policy = buildPolicy('p', { ...FOR_ALICE, maxPriority: 1_000, preemption: 'Never', defaultClassName: 'low' });
    expect(decide(GROUP, given(policy))).toMatchObject({ kind: 'allowed', warnings: [] });
  });

  test('does not take the group for a pod of the account `default`', () => {
    const account = { kind: 'ServiceAccount', namespace: GROUP.pod.namespace, name: 'default' } as const;
    const policy = buildPolicy('p', { subjects: [account], maxPriority: 10 });
    expect(decide(GROUP, given(policy))).toMatchObject({ kind: 'allowed' });
  });
});

describe('policies for everybody', () => {
  const policy = buildPolicy('p', { maxPriority: 10 });

  test('hold for the group, which a controller may create', () => {
    expect(decidePodGroup(GROUP, given(policy))).toMatchObject(refusedFor('PriorityAboveCeiling'));
  });

  test('are left to the group where a template is written', () => {
    expect(decideGroupTemplate(GROUP, given(policy))).toMatchObject({ kind: 'allowed', warnings: [] });
  });
});

describe('a class that does not exist', () => {
  const later = buildRequest({ priorityClassName: 'later' }, { serviceAccountName: '' });
  const policies = given(buildPolicy('p', { ...FOR_ALICE, maxPriority: 10 }));

  test('is refused in a template under a ceiling for a person, who could create the class later', () => {
    expect(decideGroupTemplate(later, policies)).toMatchObject({ kind: 'refused', code: 403 });
  });

  test('is left to the API server in a group', () => {
    expect(decidePodGroup(later, policies)).toMatchObject({ kind: 'allowed' });
  });
});
