import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { buildPolicy } from '#test/build/admission.ts';

const POLICY = admissionPolicyOf(
  rulePolicies().find(({ metadata }) => metadata.name === 'priority.plimsoll.dev') as unknown as KubeObject,
);
const SPARE = { 'plimsoll.dev/spare-memory': '1073741824' };
const NOTHING = { cpu: '0', memory: '0' };

function podOf(requests: object, more: object = {}) {
  const limits = { cpu: '4', memory: '4Gi' };
  const containers = [{ name: 'a' }, { name: 'b', resources: { requests, limits } }];
  return celValue({ metadata: {}, spec: { priorityClassName: 'batch', containers, ...more } });
}

/** What the API server says of a resize where a policy sends pods of a class to spare room. */
function said(
  before: ReturnType<typeof podOf>,
  after: ReturnType<typeof podOf>,
  {
    mode = 'Enforce',
    ...policy
  }: Parameters<typeof buildPolicy>[1] & { readonly mode?: 'Enforce' | 'DryRun' | undefined } = {},
) {
  const sends = buildPolicy('night', { runOn: { room: 'Spare', classNames: ['batch'] }, ...policy });
  const compiled = compileRules({ policies: [sends], quotas: [], classes: new Map(), mode, bytesOf: storedBytes });
  return [compiled.refusing, compiled.warning].map((set) => {
    if (set === undefined) return [];
    const faults = evaluatePolicy(POLICY, {
      object: after,
      oldObject: before,
      request: celValue({ operation: 'UPDATE', namespace: 'team-a', userInfo: { username: 'alice' } }),
      params: celValue({ spec: encodePriorityRules(set) }),
      namespaceObject: celValue({ metadata: {} }),
      authorizer: new AuthorizerValue(),
    });
    expect(faults.filter(({ kind }) => kind === 'failed')).toEqual([]);
    return faults.map(({ message }) => message);
  });
}

const OF_POD = { resources: { requests: { memory: '1Gi' } } };
const INIT = { initContainers: [{ name: 'i', resources: { requests: { cpu: '1' } } }] };
const BOTH = 'must request no cpu and no memory';
const KEPT =
  'policy `night` runs priority class `batch` here in spare room: a resize must not add requests of cpu or memory';

test.each([
  ['a pod in spare room, to a request', podOf(SPARE), podOf({ ...SPARE, cpu: '1' }), BOTH],
  ['a pod in spare room, to a request of the pod as a whole', podOf(SPARE), podOf(SPARE, OF_POD), BOTH],
  ['a pod in spare room, to explicit zeros', podOf(SPARE), podOf({ ...SPARE, ...NOTHING }), undefined],
  ['a pod that requests nothing, to a request', podOf(NOTHING), podOf({ ...NOTHING, memory: '1Gi' }), KEPT],
  ['a pod without requests, to a request', podOf({}), podOf({ cpu: '1m' }), KEPT],
  ['a pod that requests nothing, to a request of the pod as a whole', podOf(NOTHING), podOf(NOTHING, OF_POD), KEPT],
  ['a pod that requests nothing, to a request of an init container', podOf(NOTHING), podOf(NOTHING, INIT), KEPT],
  ['a pod that requests nothing, to other limits', podOf(NOTHING), podOf(NOTHING), undefined],
  ['a pod with requests', podOf({ cpu: '1' }), podOf({ cpu: '2', memory: '1Gi' }), undefined],
])('a resize of %s', (_, before, after, fault) => {
  const refused = fault === undefined ? [] : [expect.stringContaining(fault) as string];
  expect(said(before, after)).toEqual([refused, []]);
  const tried = fault === undefined ? [] : [expect.stringMatching(/^\(dry run\) /) as string];
  expect(said(before, after, { mode: 'DryRun' })).toEqual([[], tried]);
});

const TAKES = [podOf(NOTHING), podOf({ memory: '1Gi' })] as const;
test.each([
  ['leaves the choice to pods', { runOn: { room: 'Either', classNames: undefined } }, [[], []]],
  ['sends other classes there', { runOn: { room: 'Spare', classNames: ['other'] } }, [[], []]],
  ['only warns', { onViolation: 'Warn' }, [[], [KEPT]]],
] as const)('a resize that takes requests, where the policy %s', (_, policy, wanted) => {
  expect(said(...TAKES, policy)).toEqual(wanted);
});
