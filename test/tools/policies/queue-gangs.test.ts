import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { admissionPolicyOf } from '#sandbox/api-server/policies/admission-policy.ts';
import { evaluatePolicy } from '#sandbox/api-server/policies/evaluate-policy.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { queuePolicies } from '#tools/policies/queue-policies.ts';
import { gangWishOf } from '#shared/kube/annotations/gangs.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { valueOf } from '#test/build/value-of.ts';
import { at } from '#test/contract/harness.ts';

const POLICIES = { pods: policyOf('mark.queues.plimsoll.dev'), templates: policyOf('gang.queues.plimsoll.dev') };
const GANG = 'plimsoll.dev/gang';
const SIZE = 'plimsoll.dev/gang-size';
const MIN = 'plimsoll.dev/gang-min';

function policyOf(name: string) {
  const policy = queuePolicies().find((each) => at(each, 'metadata.name') === name);
  return admissionPolicyOf(policy as unknown as KubeObject);
}

interface Asked {
  readonly resource?: string;
  readonly operation?: 'CREATE' | 'UPDATE';
  readonly before?: object;
}

function refusals(object: object, { resource = 'pods', operation = 'CREATE', before }: Asked = {}): readonly string[] {
  const spec = { schedulingGates: [{ name: 'plimsoll.dev/queue' }] };
  const pod = (written: object) => celValue(resource === 'pods' ? { ...written, spec } : written);
  const faults = evaluatePolicy(resource === 'pods' ? POLICIES.pods : POLICIES.templates, {
    object: pod(object),
    oldObject: before === undefined ? null : pod(before),
    request: celValue({ operation, namespace: 'shop', resource: { resource }, userInfo: { username: 'ann' } }),
    params: celValue({}),
    namespaceObject: celValue({ metadata: { labels: { 'plimsoll.dev/queues': 'managed' } } }),
    authorizer: new AuthorizerValue(),
  });
  return faults.map((fault) => String(at(fault, 'message')));
}

const podOf = (labels: object, owners: readonly object[] = []) => ({ metadata: { labels, ownerReferences: owners } });

const number = fc.constantFrom('1', '4', '8', '1000', '1001', '1000000', '0', '-1', '+1', '01', '1e3', '', 'many');
const keys = { [GANG]: fc.constantFrom('train', 'auto', '', '-a', 'a.b_c'), [SIZE]: number, [MIN]: number };
const metadata = fc.record({
  labels: fc.record(keys, { requiredKeys: [] }),
  annotations: fc.record(keys, { requiredKeys: [] }),
  ownerReferences: fc.constantFrom(
    [],
    [{ kind: 'Job', name: 'train', controller: true, apiVersion: 'batch/v1', uid: 'u' }],
    [{ kind: 'Job', name: 'train', apiVersion: 'batch/v1', uid: 'u' }],
    [{ kind: 'ReplicaSet', name: 'web', controller: true, apiVersion: 'apps/v1', uid: 'u' }],
  ),
});

test('the API server refuses the gangs that the leader would refuse, in the same words', () => {
  fc.assert(
    fc.property(metadata, (written) => {
      const problem = gangWishOf(valueOf(decodePod({ metadata: written })))?.problem?.text;
      const found = refusals({ metadata: written });
      expect(found.length > 0).toBe(problem !== undefined);
      if (problem !== undefined) expect(found.join('\n')).toContain(problem);
    }),
    { seed: 48, numRuns: 1_500 },
  );
});

test('the gang and its size do not change on a pod, whoever changes them', () => {
  const before = podOf({ [GANG]: 'train', [SIZE]: '8', app: 'a' });
  const asked = { operation: 'UPDATE', before } as const;
  const changed = [
    { [GANG]: 'train', [SIZE]: '9' },
    { [GANG]: 'other', [SIZE]: '8' },
    {},
    { [GANG]: 'train', [SIZE]: '8', [MIN]: '2' },
  ];
  for (const labels of changed) expect(refusals(podOf(labels), asked).join()).toContain('must not change');
  expect(refusals(podOf({ [GANG]: 'train', [SIZE]: '8', app: 'b' }), asked)).toEqual([]);
  expect(
    refusals(podOf({ [GANG]: 'train', [SIZE]: '8' }), { operation: 'UPDATE', before: podOf({}) }).join(),
  ).toContain('must not change');
});

test('what was written before is not judged again: its finalizers come off, and its owner may scale it', () => {
  const pod = podOf({ [GANG]: 'train', [SIZE]: '1000000' });
  expect(refusals(pod, { operation: 'UPDATE', before: pod })).toEqual([]);
  const job = (parallelism: number) => ({
    metadata: {},
    spec: { parallelism, template: podOf({ [GANG]: 'auto', [SIZE]: '8' }) },
  });
  expect(refusals(job(3), { resource: 'jobs', operation: 'UPDATE', before: job(3) })).toEqual([]);
  expect(refusals(job(3), { resource: 'jobs', operation: 'UPDATE', before: job(8) })).toHaveLength(1);
});

test('templates are judged as the pods that they make', () => {
  const template = (labels: object) => ({ spec: { template: { metadata: { labels } } } });
  for (const resource of ['jobs', 'deployments', 'statefulsets', 'replicasets']) {
    expect(refusals(template({ [GANG]: 'train', [SIZE]: '1000000' }), { resource }).join()).toContain('not "1000000"');
    expect(refusals(template({ [GANG]: 'train', [SIZE]: '8' }), { resource })).toEqual([]);
    expect(refusals(template({ app: 'a' }), { resource })).toEqual([]);
  }
  const auto = template({ [GANG]: 'auto', [SIZE]: '1' });
  expect([refusals(auto, { resource: 'jobs' }).length, refusals(auto, { resource: 'deployments' }).length]).toEqual([
    0, 1,
  ]);
});

test('a Job does not come to run fewer pods than its gang has', () => {
  const job = (spec: object) => ({
    metadata: {},
    spec: { template: { metadata: { labels: { [GANG]: 'auto', [SIZE]: '8' } } }, ...spec },
  });
  const found = (spec: object) => refusals(job(spec), { resource: 'jobs' });
  expect([found({ parallelism: 8 }), found({ parallelism: 9, completions: 20 }), found({ parallelism: 0 })]).toEqual([
    [],
    [],
    [],
  ]);
  for (const spec of [{ parallelism: 7 }, { parallelism: 9, completions: 7 }, {}])
    expect(found(spec).join()).toContain('pods that never come');
});
