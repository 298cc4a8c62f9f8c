import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { at } from '#test/contract/harness.ts';
import { recordPolicy } from '#tools/policies/record-policy.ts';

const POLICY = admissionPolicyOf(recordPolicy()[0] as unknown as KubeObject);

function pod(rule: string | undefined) {
  return celValue({ metadata: rule === undefined ? {} : { annotations: { 'plimsoll.dev/class-rule': rule } } });
}

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['stays', 'p/r', 'p/r', true],
  ['is left out by a manifest that replaces the pod', 'p/r', undefined, true],
  ['is changed', 'p/r', 'p/q', false],
  ['is written later', undefined, 'p/r', false],
])('an update by which the recorded rule %s', (_, before, after, isAllowed) => {
  const faults = evaluatePolicy(POLICY, {
    object: pod(after),
    oldObject: pod(before),
    request: celValue({ operation: 'UPDATE', namespace: 'team-a', userInfo: { username: 'alice' } }),
    params: null,
    namespaceObject: celValue({ metadata: {} }),
    authorizer: new AuthorizerValue(),
  });
  const message = expect.stringContaining('the annotation plimsoll.dev/class-rule must not be changed') as string;
  expect(faults).toEqual(isAllowed ? [] : [{ kind: 'denied', message, reason: 'Forbidden' }]);
});

test('a change is judged through every door to the annotations of a pod', () => {
  const [policy] = recordPolicy();
  const rules = at(policy, 'spec.matchConstraints.resourceRules') as readonly {
    readonly resources: readonly string[];
  }[];
  const doors = ['pods', 'pods/status', 'pods/resize', 'pods/ephemeralcontainers'];
  expect(rules.flatMap(({ resources }) => resources)).toEqual(doors);
});
