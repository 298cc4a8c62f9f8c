import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';

const JOBS = { name: 'jobs', ownerKinds: ['Job'], priorityClassName: 'b' };

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

function create(spec: object) {
  const metadata = { generateName: 'rule-' };
  const object = { apiVersion: API_VERSION, kind: PRIORITY_POLICIES.kind, metadata, spec };
  return createObject(sandbox.client, { resource: PRIORITY_POLICIES }, object);
}

test.each<[object, string]>([
  [
    { allowedPriorityClassNames: ['a'], classRules: [JOBS] },
    'priorityClassName of each of classRules must be one of allowedPriorityClassNames',
  ],
  [
    { classRules: [{ name: 'r', priorityClassName: 'b' }] },
    'must set podSelector or ownerKinds; defaultPriorityClassName is the class of all other pods',
  ],
  [{ classRules: [JOBS, JOBS] }, 'spec.classRules: Invalid value: each rule must have a name of its own'],
  [
    { classRules: [{ ...JOBS, ownerKinds: ['Deployment'] }] },
    'spec.classRules[0].ownerKinds: Invalid value: must not contain Deployment; the pods of a Deployment are owned by a ReplicaSet',
  ],
  [
    { classRules: [{ ...JOBS, ownerKinds: ['CronJob'] }] },
    'spec.classRules[0].ownerKinds: Invalid value: must not contain CronJob; the pods of a CronJob are owned by a Job',
  ],
  [
    { classRules: [{ ...JOBS, podSelector: {} }] },
    'must have matchLabels or matchExpressions; leave podSelector out to take pods with any labels',
  ],
  [{ classRules: [{ ...JOBS, name: 'Not A Name' }] }, 'spec.classRules[0].name'],
  [{ classRules: [{ ...JOBS, ownerKinds: [] }] }, 'spec.classRules[0].ownerKinds'],
  [{ classRules: [{ name: 'r', ownerKinds: ['Job'] }] }, 'spec.classRules[0].priorityClassName'],
])('a bad rule is refused, and the message names its field: %j', async (spec, message) => {
  expect(await create(spec)).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining(message) as string,
  });
});

test('a good rule is accepted', async () => {
  const front = { name: 'front', podSelector: { matchLabels: { role: 'front' } }, priorityClassName: 'a' };
  expect(await create({ classRules: [JOBS, front] })).toMatchObject({ kind: 'ok' });
});
