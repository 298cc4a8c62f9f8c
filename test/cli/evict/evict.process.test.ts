import { describe, expect, test } from 'vitest';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { NAMESPACES, NODES, PDBS, PODS } from '#shared/kube/resource.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

async function createPod(client: KubeClient, name: string, app: string): Promise<void> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx' }] };
  const object = { metadata: { name, labels: { app } }, spec };
  expect(await createObject(client, { resource: PODS, namespace: 'payments' }, object)).toMatchObject({ kind: 'ok' });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const address = { resource: PODS, namespace: 'payments', name, subresource: 'status' };
  await patchObject(client, address, { status }, { type: 'merge' });
}

/** A budget as its controller left it; `observedGeneration` 0 is one that the controller has not seen. */
async function createBudget(client: KubeClient, name: string, status: object): Promise<void> {
  const spec = { minAvailable: 2, selector: { matchLabels: { app: name } } };
  await createObject(client, { resource: PDBS, namespace: 'payments' }, { metadata: { name }, spec });
  const address = { resource: PDBS, namespace: 'payments', name, subresource: 'status' };
  expect(await patchObject(client, address, { status }, { type: 'merge' })).toMatchObject({ kind: 'ok' });
}

const TARGETED = [expect.objectContaining({ type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }) as unknown];

describe('plimsoll evict', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    await createObject(admin, { resource: NAMESPACES }, { metadata: { name: 'payments' } });
    await createObject(admin, { resource: NODES }, { metadata: { name: 'node-1' } });
    for (const [name, app] of Object.entries({ free: 'free', spent: 'web', fresh: 'api' })) {
      await createPod(admin, name, app);
    }
    const counts = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 };
    await createBudget(admin, 'web', { ...counts, observedGeneration: 1 });
    await createBudget(admin, 'api', { ...counts, observedGeneration: 0 });
  });
  const evict = (...args: readonly string[]) => runPlimsoll(['evict', ...args, '--kubeconfig', kubeconfig]);
  const deletionOf = async (name: string) => {
    const found = await getObject(client(), { resource: PODS, namespace: 'payments', name });
    return found.kind === 'ok' ? found.object.metadata.deletionTimestamp : found.kind;
  };

  test.each([
    [
      'client',
      'nothing was sent: --dry-run=server asks the API server whether budgets allow the eviction\n',
      ' (dry run)',
    ],
    ['server', '', ' (server dry run)'],
  ])('--dry-run=%s evicts nothing', async (strategy, stderr, suffix) => {
    const run = await evict('payments/free', `--dry-run=${strategy}`);
    expect(run).toEqual({ code: 0, stdout: `pod/free evicted${suffix}\n`, stderr });
    expect(await deletionOf('free')).toBeUndefined();
  });

  test('a pod without a budget is evicted, with the grace period that is given', async () => {
    expect(await evict('pod/free', '--grace-period', '7')).toEqual({
      code: 0,
      stdout: 'pod/free evicted\n',
      stderr: '',
    });
    expect(await getObject(client(), { resource: PODS, namespace: 'payments', name: 'free' })).toMatchObject({
      object: {
        metadata: { deletionTimestamp: expect.any(String) as string, deletionGracePeriodSeconds: 7 },
        status: { conditions: expect.arrayContaining(TARGETED) as unknown },
      },
    });
  });

  test.each([
    ['spent', 'PodDisruptionBudget web needs 2 healthy pods and has 2 currently; try again later'],
    ['fresh', 'PodDisruptionBudget api is still being processed by the server; try again in 10 s'],
  ])('the budget of %s does not allow it: its name, why, and when to try again', async (name, message) => {
    expect(await evict(name, '-n', 'payments')).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: cannot evict pod payments/${name}: ${message}\n`,
    });
    expect(await deletionOf(name)).toBeUndefined();
  });

  test('a pod that does not exist', async () => {
    expect(await evict('none')).toEqual({ code: 2, stdout: '', stderr: 'error: pod payments/none not found\n' });
  });

  test('a grace period of 0 would skip the ending of the pod', async () => {
    const { code, stderr } = await evict('spent', '--grace-period=0');
    expect([code, stderr]).toEqual([2, expect.stringContaining('whole number of seconds of at least 1')]);
  });
});
