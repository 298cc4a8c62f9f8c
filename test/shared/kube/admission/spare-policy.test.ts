import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { spareResizePolicy } from '#shared/kube/admission/spare-policy.ts';

const POLICY = admissionPolicyOf(spareResizePolicy()[0] as unknown as KubeObject);
const SPARE = { 'plimsoll.dev/spare-memory': '1073741824' };

function podOf(requests: object, more: object = {}) {
  return celValue({
    metadata: {},
    spec: { containers: [{ name: 'a' }, { name: 'b', resources: { requests } }], ...more },
  });
}

test.each([
  ['a pod in spare room, to a request', podOf(SPARE), podOf({ ...SPARE, cpu: '1' }), false],
  [
    'a pod in spare room, to a request of the pod as a whole',
    podOf(SPARE),
    podOf(SPARE, { resources: { requests: { memory: '1Gi' } } }),
    false,
  ],
  ['a pod in spare room, to explicit zeros', podOf(SPARE), podOf({ ...SPARE, cpu: '0', memory: '0' }), true],
  ['any other pod', podOf({ cpu: '1' }), podOf({ cpu: '2' }), true],
])('a resize of %s', (_, before, after, isAllowed) => {
  const faults = evaluatePolicy(POLICY, {
    object: after,
    oldObject: before,
    request: celValue({ operation: 'UPDATE', namespace: 'team-a', userInfo: { username: 'alice' } }),
    params: null,
    namespaceObject: celValue({ metadata: {} }),
    authorizer: new AuthorizerValue(),
  });
  const message = expect.stringContaining('must request no cpu and no memory') as string;
  expect(faults).toEqual(isAllowed ? [] : [{ kind: 'denied', message, reason: 'Forbidden' }]);
});
