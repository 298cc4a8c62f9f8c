import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { encodeAdmitted } from '#shared/api/admitted.ts';
import { queuePolicies } from '#tools/policies/queue-policies.ts';
import { at } from '#test/contract/harness.ts';

const POLICY = admissionPolicyOf(
  queuePolicies().find((each) => at(each, 'metadata.name') === 'resize.queues.plimsoll.dev') as unknown as KubeObject,
);
const QUEUE = {
  metadata: { name: 'shop' },
  spec: { max: { cpu: '4', memory: '8Gi' } },
  status: { used: { cpu: '3', memory: '8589934592' } },
};

function podOf(requests: object, spec: object = {}, queue = 'shop', application = 'web') {
  const facts = { queue, application, mayPreempt: true, mayBePreempted: true, at: 0, decision: 'd' };
  const containers = [
    { name: 'a', resources: { requests: { cpu: '500m' } } },
    { name: 'b', resources: { requests } },
  ];
  const annotations = { 'plimsoll.dev/admitted': encodeAdmitted(facts) };
  return { metadata: { annotations }, spec: { containers, ...spec } };
}

function said(before: object, after: object, queue: object = QUEUE) {
  const faults = evaluatePolicy(POLICY, {
    object: celValue(after),
    oldObject: celValue(before),
    request: celValue({ operation: 'UPDATE', namespace: 'shop', userInfo: { username: 'ann' } }),
    params: celValue(queue),
    namespaceObject: celValue({ metadata: { labels: { 'plimsoll.dev/queues': 'managed' } } }),
    authorizer: new AuthorizerValue(),
  });
  expect(faults.filter(({ kind }) => kind === 'failed')).toEqual([]);
  return faults.map(({ message }) => message);
}

const CPU = 'queue shop: cpu is limited to 4; used 3, and the resize adds more than is left';
const MEMORY = 'queue shop: memory is limited to 8Gi; used 8589934592, and the resize adds more than is left';
const SIDECAR = (cpu: string) => ({
  initContainers: [{ name: 's', restartPolicy: 'Always', resources: { requests: { cpu } } }],
});
const OF_POD = (cpu: string) => ({ resources: { requests: { cpu } } });

test.each<[string, object, object, readonly string[]]>([
  ['up to the maximum', podOf({ cpu: '1' }), podOf({ cpu: '2' }), []],
  ['beyond it', podOf({ cpu: '1' }), podOf({ cpu: '2001m' }), [CPU]],
  ['from nothing', podOf({}), podOf({ cpu: '2', memory: '1Mi' }), [CPU, MEMORY]],
  ['of one that is full already, to less', podOf({ memory: '2Gi' }), podOf({ memory: '1Gi' }), []],
  ['of the limits alone', podOf({ memory: '2Gi' }), podOf({ memory: '2048Mi' }), []],
  ['of a sidecar', podOf({}, SIDECAR('1')), podOf({}, SIDECAR('3')), [CPU]],
  ['of the pod as a whole', podOf({}, OF_POD('1')), podOf({}, OF_POD('3')), [CPU]],
  ['of a pod of another queue', podOf({}, {}, 'other'), podOf({ cpu: '9' }, {}, 'other'), []],
  [
    'of a pod whose application names the queue',
    podOf({}, {}, 'other', '","queue":"shop"'),
    podOf({ cpu: '9' }, {}, 'other', '","queue":"shop"'),
    [],
  ],
])('a resize %s', (_, before, after, faults) => {
  expect(said(before, after)).toEqual(faults);
});

test.each<[string, object, readonly string[]]>([
  ['without a maximum', { ...QUEUE, spec: {} }, []],
  ['without a maximum of memory', { ...QUEUE, spec: { max: { cpu: '40' } } }, []],
  ['that has no status yet', { ...QUEUE, status: undefined }, []],
  ['whose maximum is a number', { ...QUEUE, spec: { max: { cpu: 4 } } }, [CPU]],
])('a resize in a queue %s', (_, queue, faults) => {
  expect(said(podOf({}), podOf({ cpu: '2', memory: '1Gi' }), queue)).toEqual(faults);
});

test.each<[string, string, string, readonly string[]]>([
  ['that fits exactly', '0.1', '400m', []],
  [
    'of one millicore more',
    '0.1',
    '401m',
    ['queue shop: cpu is limited to 300m; used 0, and the resize adds more than is left'],
  ],
])('fractions: a resize %s', (_, before, after, faults) => {
  const queue = { ...QUEUE, spec: { max: { cpu: '300m' } }, status: { used: { cpu: '0' } } };
  expect(said(podOf({ cpu: before }), podOf({ cpu: after }), queue)).toEqual(faults);
});

test('a pod that no queue let in is not judged', () => {
  const [before, after] = [podOf({}), podOf({ cpu: '9' })].map((pod) => ({ ...pod, metadata: {} }));
  expect(said(before as object, after as object)).toEqual([]);
});
