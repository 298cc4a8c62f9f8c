import { describe, expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { queuePolicies } from '#tools/policies/queue-policies.ts';
import { at } from '#test/contract/harness.ts';

const SHIPPED = queuePolicies().find((each) => at(each, 'metadata.name') === 'mark.queues.plimsoll.dev');
const POLICY = admissionPolicyOf(SHIPPED as unknown as KubeObject);
const DENYING = new AuthorizerValue();
DENYING.check = () => Object.assign(new AuthorizerValue().check(), { isAllowed: false });
/** Without validations, so that only conditions that are true and fail to be evaluated are seen. */
const REACHED = {
  ...POLICY,
  validations: POLICY.validations.slice(0, 1).map((each) => ({ ...each, expression: NEVER() })),
};
const GATE = 'plimsoll.dev/queue';
const MARK = 'plimsoll.dev/admitted';
const LEADER = 'system:serviceaccount:plimsoll-system:plimsoll-controller';

function NEVER() {
  return { evaluate: () => false };
}

interface Asked {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly before?: object;
  readonly subResource?: string;
  readonly isManaged?: boolean;
  readonly namespace?: string;
  readonly namespaceLabels?: object;
  readonly isInstalled?: boolean;
}

const pod = ({ annotations = {}, labels = {}, gates = [GATE], ...spec }: Pod = {}) => ({
  metadata: { name: 'a', annotations, labels },
  spec: { ...spec, schedulingGates: gates.map((name) => ({ name })) },
});

interface Pod {
  readonly annotations?: object;
  readonly labels?: object;
  readonly gates?: readonly string[];
  readonly nodeName?: string;
}

/** Also where the binding does not say so: then there is no parameter. */
const OF_QUEUES = { 'plimsoll.dev/queues': 'managed' };

function activation(object: object, asked: Asked) {
  const {
    user = 'ann',
    groups = [],
    before,
    subResource,
    isManaged = true,
    namespace = 'shop',
    namespaceLabels = OF_QUEUES,
  } = asked;
  const operation = before === undefined ? 'CREATE' : 'UPDATE';
  const resource = { resource: 'pods' };
  const userInfo = { username: user, groups };
  return {
    object: celValue(object),
    oldObject: celValue(before),
    request: celValue({ operation, namespace, resource, userInfo, ...(subResource !== undefined && { subResource }) }),
    params: isManaged ? celValue({}) : null,
    namespaceObject: celValue({ metadata: { labels: namespaceLabels } }),
    authorizer: asked.isInstalled === false ? DENYING : new AuthorizerValue(),
  };
}

function faultsOf(object: object, asked: Asked = {}): readonly unknown[] {
  return evaluatePolicy(POLICY, activation(object, asked)).map((fault) => fault.message);
}

/** Whether the API server turns the object into maps a second time. */
function isReached(object: object, asked: Asked = {}): boolean {
  return evaluatePolicy(REACHED, activation(object, asked)).length > 0;
}

const GATED = pod();
const LET_IN = pod({ gates: [], annotations: { [MARK]: '{}' } });
const saying = (text: string) => [expect.stringContaining(text) as unknown];

describe('writes of pods that queues do not refuse end at the match condition:', () => {
  test.each<[string, object, Asked]>([
    ['a new pod with its gate', GATED, {}],
    ['a change of a label', pod({ labels: { app: 'b' } }), { before: GATED }],
    ['a change of a pod that was let in', { ...LET_IN, status: {} }, { before: LET_IN }],
    [
      'the status that a kubelet writes',
      { ...LET_IN, status: { phase: 'Running' } },
      { before: LET_IN, subResource: 'status' },
    ],
    ['a new pod elsewhere', pod({ gates: [], nodeName: 'node-0' }), { isManaged: false }],
    ['a change elsewhere', pod({ gates: [] }), { before: pod({ gates: [GATE] }), isManaged: false }],
    ['a binding', { metadata: { name: 'a' }, target: { name: 'node-0' } }, { subResource: 'binding' }],
    [
      'a mirror pod',
      pod({ gates: [], nodeName: 'node-0', annotations: { [MARK]: '{}' } }),
      { groups: ['system:nodes'] },
    ],
  ])('%s', (_, object, asked) => {
    expect([isReached(object, asked), faultsOf(object, asked)]).toEqual([false, []]);
  });
});

test.each<[string, object, Asked, string]>([
  ['a new pod that names its node', pod({ nodeName: 'node-0', gates: [] }), {}, 'spec.nodeName must not be set'],
  ['a new pod without the gate', pod({ gates: ['example.com/other'] }), {}, 'spec.schedulingGates must contain'],
  ['a mark', pod({ annotations: { [MARK]: '{}' } }), {}, 'must only be written by plimsoll-controller'],
  ['a mark elsewhere', pod({ annotations: { [MARK]: '{}' } }), { isManaged: false }, 'must only be written by'],
  [
    'a mark by a status',
    LET_IN,
    { before: pod({ gates: [] }), subResource: 'status', groups: ['system:nodes'] },
    'must only be written by',
  ],
  [
    'a mark by a binding',
    { metadata: { name: 'a', annotations: { [MARK]: '{}' } } },
    { subResource: 'binding' },
    'must only be written by',
  ],
  ...['', '-'].map((mark): [string, object, Asked, string] => [
    `a binding that makes the mark "${mark}"`,
    { metadata: { name: 'a', annotations: { [MARK]: mark } }, target: { name: 'node-0' } },
    { subResource: 'binding' },
    'must only be written by',
  ]),
  ['a mark that is taken away', pod({ gates: [] }), { before: LET_IN }, 'must only be written by'],
  ['a gang without a size', pod({ labels: { 'plimsoll.dev/gang': 'train' } }), {}, 'gang-size'],
])('%s is refused', (_, object, asked, text) => {
  expect(faultsOf(object, asked).slice(0, 1)).toEqual(saying(text));
});

test('the label for all parts asks for the gate', () => {
  const asked = { namespaceLabels: { 'plimsoll.dev/managed': 'true' } };
  expect(faultsOf(pod({ gates: [] }), asked)).toEqual(saying('nothing has added it'));
});

test('the gate comes off by a user with the right to release', () => {
  expect(faultsOf(pod({ gates: [] }), { before: GATED })).toEqual([]);
});

test.each<[string, Asked]>([
  ['kube-system', { namespace: 'kube-system' }],
  [
    'a namespace that is ignored',
    { namespaceLabels: { 'plimsoll.dev/ignore': 'true', 'plimsoll.dev/managed': 'true' } },
  ],
  [
    'a namespace whose own label wins',
    { namespaceLabels: { 'plimsoll.dev/queues': 'false', 'plimsoll.dev/managed': 'true' } },
  ],
])('pods of %s need no gate, even where it is managed', (_, asked) => {
  expect(faultsOf(pod({ gates: [] }), asked)).toEqual([]);
});

test.each<[string, object, Asked, boolean]>([
  ['lets a pod in', LET_IN, { before: GATED }, true],
  ['changes a status', GATED, { before: GATED, subResource: 'status' }, true],
  ['writes a mark through another door', LET_IN, { before: pod({ gates: [] }), subResource: 'resize' }, true],
  ['creates a pod', GATED, {}, false],
])('what the leader writes is judged: it %s', (_, object, asked, judged) => {
  expect(isReached(object, { ...asked, user: LEADER })).toBe(judged);
});

test.each<[string, object, Asked, string]>([
  ['a label', pod({ labels: { team: 'x' } }), {}, 'may not change the metadata of a pod'],
  ['another annotation', pod({ annotations: { other: 'x' } }), {}, 'may write only the annotation'],
  ['its spec', pod({ nodeName: 'node-0' }), {}, 'may not change the spec'],
  ['the gate of another', pod({ gates: [] }), { before: pod({ gates: ['example.com/other'] }) }, 'may remove only'],
  [
    'its phase',
    { ...GATED, status: { phase: 'Failed' } },
    { subResource: 'status' },
    'may change only nominatedNodeName',
  ],
  [
    'the condition of another',
    { ...GATED, status: { conditions: [{ type: 'Ready' }] } },
    { subResource: 'status' },
    'may change only the condition plimsoll.dev/WaitsInQueue',
  ],
  [
    'its node where no pod waits',
    { ...GATED, status: { nominatedNodeName: 'node-0' } },
    { subResource: 'status', namespaceLabels: {} },
    'may set a node aside only for pods that wait',
  ],
])('the leader may not change %s', (_, object, asked, text) => {
  const namespaceLabels = { 'plimsoll.dev/queues': 'managed' };
  expect(faultsOf(object, { before: GATED, namespaceLabels, ...asked, user: LEADER })).toEqual(saying(text));
});

test('the leader says what a pod waits for and sets a node aside', () => {
  const status = { nominatedNodeName: 'node-0', conditions: [{ type: 'plimsoll.dev/WaitsInQueue' }] };
  const asked = { before: GATED, subResource: 'status', namespaceLabels: { 'plimsoll.dev/queues': 'managed' } };
  expect(faultsOf({ ...GATED, status }, { ...asked, user: LEADER })).toEqual([]);
});

test('once the right of the leader to release is gone, no gate is asked for, and marks stay guarded', () => {
  const asked = { isInstalled: false };
  expect(faultsOf(pod({ gates: [] }), asked)).toEqual([]);
  expect(faultsOf(pod({ nodeName: 'node-0', gates: [] }), asked)).toEqual([]);
  expect(faultsOf(pod({ gates: [] }), { ...asked, before: GATED })).toEqual([]);
  expect(faultsOf(LET_IN, asked)).toEqual(saying('must only be written by plimsoll-controller'));
});
