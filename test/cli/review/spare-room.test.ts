import { expect, test } from 'vitest';
import { parseManifests } from '#cli/manifests/parse-manifests.ts';
import { review } from '#cli/review/review.ts';

const CLUSTER = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { plimsoll.dev/priority-quota: enforced } }
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: batch }
value: -100
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: web }
value: 100
---
apiVersion: plimsoll.dev/v1alpha1
kind: PriorityPolicy
metadata: { name: lend }
spec: { runOn: Spare, sparePriorityClassNames: [batch] }
`;

const RESOURCE_QUOTA = `
apiVersion: v1
kind: ResourceQuota
metadata: { name: all, namespace: shop }
spec:
  hard: { requests.plimsoll.dev/spare-memory: 3Gi }
  scopeSelector: { matchExpressions: [{ scopeName: PriorityClass, operator: In, values: [batch] }] }
`;

const PRIORITY_QUOTA = `
apiVersion: plimsoll.dev/v1alpha1
kind: PriorityQuota
metadata: { name: spare }
spec: { priorityClassNames: [batch], hard: { requests.plimsoll.dev/spare-memory: 3Gi } }
`;

function podOf(name: string, spec: string): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop }
spec: { ${spec} }
`;
}

const BATCH =
  'priorityClassName: batch, containers: [{ name: main, resources: { requests: { cpu: "1", memory: 2Gi } } }]';
const BY_HAND =
  'priorityClassName: web, containers: [{ name: main, resources: { limits: { plimsoll.dev/spare-memory: 1Gi } } }]';

function answersTo(...documents: readonly string[]) {
  const manifests = parseManifests({ name: 'file', text: [CLUSTER, ...documents].join('---') });
  const { rows } = review({
    manifests,
    inCluster: [],
    requester: { name: 'alice', groups: [] },
    namespace: 'shop',
    now: Date.UTC(2026, 0, 1),
  });
  return rows;
}

test('a review moves the pods of a class that a policy sends to spare room', () => {
  const [batch] = answersTo(podOf('batch', BATCH));
  expect(batch).toMatchObject({
    allowed: true,
    message: expect.stringContaining('become requests of spare room') as string,
  });
  expect(JSON.stringify(batch?.patch)).toContain('"plimsoll.dev/spare-memory":"2147483648"');
});

test.each([
  ['ResourceQuota', RESOURCE_QUOTA],
  ['PriorityQuota', PRIORITY_QUOTA],
])('a %s counts spare room like any other resource', (_, quota) => {
  const rows = answersTo(quota, podOf('first', BATCH), podOf('second', BATCH));
  expect(rows.map(({ allowed }) => allowed)).toEqual([true, false]);
});

test('a pod that helps itself to spare room is refused', () => {
  const [web] = answersTo(podOf('web', BY_HAND));
  expect(web).toMatchObject({ allowed: false, code: 403 });
  expect(web?.message).toContain('none here grants it to priority class `web`');
});

test('a template is told where its pods will run', () => {
  const [deployment] = answersTo(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: jobs, namespace: shop }
spec: { template: { spec: { ${BATCH} } } }
`);
  expect(deployment?.warnings).toEqual([expect.stringContaining('pods of this template run in spare room')]);
});
