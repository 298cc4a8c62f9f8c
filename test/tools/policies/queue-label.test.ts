import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { encodeQueueSelectors } from '#shared/api/queue-selectors.ts';
import { findQueue } from '#shared/domain/queue/find-queue.ts';
import { queuePolicies } from '#tools/policies/queue-policies.ts';
import { valueOf } from '#test/build/value-of.ts';
import { at } from '#test/contract/harness.ts';

const POLICY = admissionPolicyOf(
  queuePolicies().find((each) => at(each, 'metadata.name') === 'label.queues.plimsoll.dev') as unknown as KubeObject,
);
const QUEUES = ['q0', 'q1', 'q2'];

const key = fc.constantFrom('team', 'tier', 'In');
const value = fc.constantFrom('a', 'b', 'team', '');
const asked = fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') });
const listed = fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1 }) });
const selector = fc.record(
  { matchLabels: fc.dictionary(key, value), matchExpressions: fc.array(fc.oneof(asked, listed), { maxLength: 3 }) },
  { requiredKeys: [] },
);
const world = fc.record({
  selectors: fc.array(fc.option(selector), { minLength: 3, maxLength: 3 }),
  labels: fc.dictionary(key, value),
  namespaceQueue: fc.constantFrom('', ...QUEUES),
  label: fc.constantFrom('', 'unknown', ...QUEUES),
});

function faultsOf(label: string, namespaceLabels: object, params: unknown) {
  return evaluatePolicy(POLICY, {
    object: celValue({ metadata: label === '' ? {} : { labels: { 'plimsoll.dev/queue': label } } }),
    oldObject: null,
    request: celValue({ operation: 'CREATE', namespace: 'shop', userInfo: { username: 'ann' } }),
    params: celValue(params),
    namespaceObject: celValue({ metadata: { labels: { 'plimsoll.dev/queues': 'managed', ...namespaceLabels } } }),
    authorizer: new AuthorizerValue(),
  });
}

test('the API server refuses the label that the leader would refuse, in the same words', () => {
  fc.assert(
    fc.property(world, ({ selectors, labels, namespaceQueue, label }) => {
      const queues = selectors.map((namespaceSelector, index) =>
        valueOf(decodeQueue({ metadata: { name: QUEUES[index] }, spec: { namespaceSelector } })),
      );
      const all = { ...labels, ...(namespaceQueue !== '' && { 'plimsoll.dev/queue': namespaceQueue }) };
      const faults = faultsOf(label, all, { spec: encodeQueueSelectors(queues) });
      const namespaceLabels = new Map(Object.entries(all));
      const found = findQueue({ label, namespace: 'shop', namespaceQueue, namespaceLabels }, queueDirectory(queues));
      const refused =
        found.kind === 'none' && found.because.code === 'NamespaceNotAdmitted' ? [found.because.text] : [];
      expect(faults.map((fault) => at(fault, 'message'))).toEqual(
        refused.map((text) => expect.stringContaining(text) as unknown),
      );
    }),
    { seed: 45, numRuns: 500 },
  );
});

test('queues beyond what the API server stores are left to the leader', () => {
  const namespaces = { written: { matchLabels: new Map([['team', 'x'.repeat(63)]]), matchExpressions: [] } };
  const queues = Array.from({ length: 12_000 }, (_, index) => ({ name: `queue-${index}`, namespaces }));
  const spec = encodeQueueSelectors(queues);
  expect(JSON.stringify(spec).length).toBeLessThan(1_500_000);
  expect(faultsOf('queue-99', {}, { spec })).toEqual([]);
  expect(faultsOf('queue-0', {}, { spec })).toHaveLength(1);
});
