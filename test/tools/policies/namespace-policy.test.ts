import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { namespacePolicy } from '#tools/policies/namespace-policy.ts';

const POLICY = admissionPolicyOf(namespacePolicy()[0] as unknown as KubeObject);
const DENYING = new AuthorizerValue();
DENYING.check = () => Object.assign(new AuthorizerValue().check(), { isAllowed: false });

type Labels = Readonly<Record<string, string>> | undefined;
const [QUOTAS, MANAGED, OFF] = [
  { 'plimsoll.dev/priority-quota': 'enforced' },
  { 'plimsoll.dev/managed': 'true' },
  { 'plimsoll.dev/priority-quota': 'off' },
];

function isRefused(before: Labels, after: Labels): boolean {
  const of = (labels: Labels) => celValue({ metadata: { name: 'shop', ...(labels && { labels }) } });
  const activation = {
    object: of(after),
    oldObject: of(before),
    request: celValue({ operation: 'UPDATE' }),
    authorizer: DENYING,
  };
  return evaluatePolicy(POLICY, activation).length > 0;
}

test.each<[string, Labels, Labels, boolean]>([
  ['loses its label', QUOTAS, undefined, true],
  ['loses the label for all parts', MANAGED, undefined, true],
  ['gets another value of its label beside the one for all parts', MANAGED, { ...MANAGED, ...OFF }, true],
  ['loses both', { ...MANAGED, ...QUOTAS }, { team: 'a' }, true],
  ['loses its label and keeps the one for all parts', { ...MANAGED, ...QUOTAS }, MANAGED, false],
  ['loses the label for all parts and keeps its own', { ...MANAGED, ...QUOTAS }, QUOTAS, false],
  ['loses the label for all parts, which did not count', { ...MANAGED, ...OFF }, OFF, false],
  ['gets the label for all parts', undefined, MANAGED, false],
  ['is ignored', MANAGED, { ...MANAGED, 'plimsoll.dev/ignore': 'true' }, true],
])('without the right, whether a namespace is refused that %s', (_, before, after, refused) => {
  expect(isRefused(before, after)).toBe(refused);
});
