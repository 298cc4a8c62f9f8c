import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { checkConditions } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { webhooksOf } from '#sandbox/api-server/webhooks/webhook.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { at } from '#test/contract/harness.ts';

const DOCUMENTS = parseAllDocuments(readFileSync('deploy/base/agent/admission-policy.yaml', 'utf8'));
const POLICY = admissionPolicyOf(
  DOCUMENTS.map((each) => each.toJS() as unknown).find(
    (each) => at(each, 'metadata.name') === 'plimsoll-agent-resizes' && at(each, 'spec.validations') !== undefined,
  ) as KubeObject,
);
const AGENT = 'system:serviceaccount:plimsoll-node:plimsoll-agent';
const NODE = 'authentication.kubernetes.io/node-name';

const BURST = { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '2', memory: '128Mi' } };

function podOf(resources: object, more: object = {}, spec: object = {}) {
  return { metadata: {}, spec: { nodeName: 'n1', containers: [{ name: 'a', resources, ...more }], ...spec } };
}

interface By {
  readonly node?: string | undefined;
  readonly namespace?: string;
}

function said(before: object, after: object, { node = 'n1', namespace = 'shop' }: By = {}) {
  const extra = node === '' ? {} : { [NODE]: [node] };
  const faults = evaluatePolicy(POLICY, {
    object: celValue(after),
    oldObject: celValue(before),
    request: celValue({ operation: 'UPDATE', namespace, userInfo: { username: AGENT, extra } }),
    namespaceObject: celValue({ metadata: {} }),
    authorizer: new AuthorizerValue(),
  });
  expect(faults.filter(({ kind }) => kind === 'failed')).toEqual([]);
  return faults.map(({ message }) => message);
}

const LOWER = { ...BURST, limits: { ...BURST.limits, cpu: '900m' } };
const OTHER_NODE = 'the agent may resize only pods of its own node';
const CRITICAL = "the agent must not resize critical pods, nor pods of kube-system or of Plimsoll's own namespaces";
const OTHER_FIELD = 'the agent may change only a CPU limit that is set, of a pod with one container';
const TWO = { containers: [{ name: 'a', resources: BURST }, { name: 'b' }] };
const sidecar = (cpu: string) => ({
  initContainers: [{ name: 's', restartPolicy: 'Always', resources: { limits: { cpu } } }],
});

test.each<[string, object, object, By, readonly string[]]>([
  ['lowers a CPU limit', podOf(BURST), podOf(LOWER), {}, []],
  ['gives it back', podOf(LOWER), podOf(BURST), {}, []],
  ['lowers one on another node', podOf(BURST), podOf(LOWER), { node: 'n2' }, [OTHER_NODE]],
  ['lowers one with a token of no node', podOf(BURST), podOf(LOWER), { node: '' }, [OTHER_NODE]],
  ['resizes in kube-system', podOf(BURST), podOf(LOWER), { namespace: 'kube-system' }, [CRITICAL]],
  ['resizes a critical pod', podOf(BURST, {}, { priority: 2e9 }), podOf(LOWER, {}, { priority: 2e9 }), {}, [CRITICAL]],
  ['lowers a memory limit', podOf(BURST), podOf({ ...BURST, limits: { cpu: '2', memory: '1Mi' } }), {}, [OTHER_FIELD]],
  ['lowers a request', podOf(BURST), podOf({ ...BURST, requests: { cpu: '1m', memory: '64Mi' } }), {}, [OTHER_FIELD]],
  ['adds requests', podOf({ limits: BURST.limits }), podOf(BURST), {}, [OTHER_FIELD]],
  ['adds a limit', podOf({ requests: BURST.requests }), podOf(BURST), {}, [OTHER_FIELD]],
  ['removes a limit', podOf(BURST), podOf({ ...BURST, limits: { cpu: '2' } }), {}, [OTHER_FIELD]],
  ['resizes one of two containers', podOf(BURST, {}, TWO), podOf(LOWER, {}, TWO), {}, [OTHER_FIELD]],
  ['resizes a sidecar', podOf(BURST, {}, sidecar('1')), podOf(BURST, {}, sidecar('2')), {}, [OTHER_FIELD]],
  [
    'resizes the pod as a whole',
    podOf(BURST, {}, { resources: BURST }),
    podOf(BURST, {}, { resources: LOWER }),
    {},
    [OTHER_FIELD],
  ],
  [
    'changes whether a resize restarts',
    podOf(BURST),
    podOf(LOWER, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
    {},
    [OTHER_FIELD],
  ],
])('what the policy says when an agent %s (T-155)', (_, before, after, by, expected) => {
  expect(said(before, after, by)).toEqual(expected);
});

test.each([
  ['not of the CPU limits that agents change', AGENT, 'UPDATE', 'unmet'],
  ['of pods that an agent creates', AGENT, 'CREATE', 'met'],
  ['of a resize by others', 'alice', 'UPDATE', 'met'],
])('quotas are asked %s, so that no limit stays low while the webhook is away', (_, username, operation, expected) => {
  const target = { kind: 'url', url: 'https://127.0.0.1:1' } as const;
  const options = { target, failurePolicy: 'Fail', gatedCallers: [] } as const;
  const entries = webhookConfigurations(options).flatMap((each) => webhooksOf(each as unknown as KubeObject));
  const asked = entries.filter(({ name }) => name.endsWith('quota.plimsoll.dev'));
  const request = { operation, userInfo: { username, groups: [] } };
  expect(asked.map(({ conditions }) => checkConditions(conditions, request).kind)).toEqual([expected, expected]);
});
