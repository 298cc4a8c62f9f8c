import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOBS } from '#sandbox/controllers/plan-job.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { createObject, deleteObject, getObject, listObjects, patchObject } from '#shared/kube/client/objects.ts';
import {
  DEPLOYMENTS,
  NAMESPACES,
  PDBS,
  PODS,
  PRIORITY_CLASSES,
  REPLICA_SETS,
  type Resource,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { untilAnswer } from '#test/build/waiting.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;

beforeAll(async () => {
  sandbox = await startTestSandbox();
});

afterAll(() => sandbox.stop());

const container = { name: 'main', image: 'demo/service', resources: { requests: { cpu: '10m', memory: '8Mi' } } };

async function create(resource: Resource, object: object, namespace = 'default'): Promise<void> {
  const created = await createObject(sandbox.client, { resource, ...(resource.namespaced && { namespace }) }, object);
  if (created.kind !== 'ok') throw new Error(created.message);
}

async function list(resource: Resource, labelSelector: string, namespace = 'default'): Promise<readonly KubeObject[]> {
  const listed = await listObjects(sandbox.client, { resource, namespace }, { labelSelector });
  if (listed.kind !== 'ok') throw new Error(listed.message);
  return listed.object.items;
}

/** A field of an object's status, followed until it is as wanted. */
async function status(resource: Resource, name: string, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  const address = { resource, name, ...(resource.namespaced && { namespace: 'default' }) };
  await untilAnswer(
    async () => {
      const found = await getObject(sandbox.client, address);
      return found.kind === 'ok' && isRecord(found.object['status']) ? found.object['status'] : {};
    },
    (present) => Object.entries(wanted).every(([key, value]) => present[key] === value),
  );
}

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [container], terminationGracePeriodSeconds: 1 } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

describe('a Deployment', () => {
  test('gets its pods, rolls out a change, scales, and takes all with it when it goes', async () => {
    await create(DEPLOYMENTS, deployment('web', 2));
    await status(DEPLOYMENTS, 'web', { availableReplicas: 2, updatedReplicas: 2 });
    const address = { resource: DEPLOYMENTS, namespace: 'default', name: 'web' };
    const template = { spec: { containers: [{ ...container, args: ['--memory=1Mi'] }] } };
    await patchObject(sandbox.client, address, { spec: { template } }, { type: 'merge' });
    await status(DEPLOYMENTS, 'web', { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 });
    expect(await list(REPLICA_SETS, 'app=web')).toHaveLength(2);
    await patchObject(sandbox.client, address, { spec: { replicas: 1 } }, { type: 'merge' });
    await status(DEPLOYMENTS, 'web', { observedGeneration: 3, replicas: 1 });
    await deleteObject(sandbox.client, address, { propagationPolicy: 'Background' });
    const left = async () => [...(await list(REPLICA_SETS, 'app=web')), ...(await list(PODS, 'app=web'))];
    expect(await untilAnswer(left, (objects) => objects.length === 0)).toEqual([]);
  });

  test('has a deleted pod replaced', async () => {
    await create(DEPLOYMENTS, deployment('steady', 1));
    await status(DEPLOYMENTS, 'steady', { availableReplicas: 1 });
    const [first] = await list(PODS, 'app=steady');
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: first?.metadata.name, namespace: 'default' },
    };
    const path = `/api/v1/namespaces/default/pods/${first?.metadata.name ?? ''}/eviction`;
    expect(await sandbox.client.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
    const others = await untilAnswer(
      () => list(PODS, 'app=steady'),
      (pods) => pods.length === 1 && pods[0]?.metadata.uid !== first?.metadata.uid,
    );
    expect(others).toHaveLength(1);
  });
});

test('a Job runs its pods to completion', async () => {
  const template = {
    spec: { containers: [{ ...container, image: 'demo/batch', args: ['--seconds=0'] }], restartPolicy: 'Never' },
  };
  const spec = { completions: 2, parallelism: 2, template };
  await create(JOBS, { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'report' }, spec });
  await status(JOBS, 'report', { succeeded: 2, active: 0 });
});

test('a PodDisruptionBudget is counted, and refuses the eviction that it does not allow', async () => {
  await create(DEPLOYMENTS, deployment('guarded', 1));
  await create(PDBS, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'guarded' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  });
  await status(PDBS, 'guarded', { currentHealthy: 1, disruptionsAllowed: 0, observedGeneration: 1 });
  const [pod] = await list(PODS, 'app=guarded');
  const name = pod?.metadata.name ?? '';
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } };
  const refused = await sandbox.client.request({
    method: 'POST',
    path: `/api/v1/namespaces/default/pods/${name}/eviction`,
    body,
  });
  expect(refused).toMatchObject({ kind: 'tooManyRequests' });
});

test('a ResourceQuota is counted', async () => {
  const namespace = 'counted';
  await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await create(
    RESOURCE_QUOTAS,
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'all' }, spec: { hard: { pods: '3' } } },
    namespace,
  );
  await create(
    PODS,
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec: { containers: [container] } },
    namespace,
  );
  const quota = await untilAnswer(
    () => getObject(sandbox.client, { resource: RESOURCE_QUOTAS, namespace, name: 'all' }),
    (found) =>
      found.kind === 'ok' &&
      isRecord(found.object['status']) &&
      JSON.stringify(found.object['status']['used']) === '{"pods":"1"}',
  );
  expect(quota).toMatchObject({ kind: 'ok', object: { status: { hard: { pods: '3' } } } });
});

test('a deleted Namespace is emptied and goes', async () => {
  const name = 'doomed';
  await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await create(DEPLOYMENTS, deployment('inside', 1), name);
  await untilAnswer(
    () => list(PODS, 'app=inside', name),
    (pods) => pods.length === 1,
  );
  await deleteObject(sandbox.client, { resource: NAMESPACES, name });
  const found = await untilAnswer(
    () => getObject(sandbox.client, { resource: NAMESPACES, name }),
    ({ kind }) => kind === 'notFound',
  );
  expect(found.kind).toBe('notFound');
});

test('an important pod takes the place of a lesser one, which leaves with its own grace', async () => {
  const classes = { low: 1, high: 2 };
  for (const [name, value] of Object.entries(classes)) {
    await create(PRIORITY_CLASSES, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
    });
  }
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { priorityClassName: name, containers: [{ ...container, resources: { requests: { cpu: '3' } } }] },
  });
  const phaseOf = async (name: string): Promise<unknown> => {
    const found = await getObject(sandbox.client, { resource: PODS, namespace: 'default', name });
    return found.kind === 'ok' && isRecord(found.object['status']) ? found.object['status']['phase'] : found.kind;
  };
  await create(PODS, pod('low'));
  await untilAnswer(
    () => phaseOf('low'),
    (phase) => phase === 'Running',
  );
  await create(PODS, pod('high'));
  await untilAnswer(
    () => phaseOf('high'),
    (phase) => phase === 'Running',
  );
  expect(await phaseOf('low')).toBe('notFound');
});
