import { describe, expect, test } from 'vitest';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { DEPLOYMENTS, LEASES, NAMESPACES, NODES, PODS } from '#shared/kube/resource.ts';
import { at } from '#test/contract/harness.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const ARGS = ['uninstall', '--clean-up'];
const OWN_TAINT = { key: 'plimsoll.dev/memory-pressure', effect: 'NoSchedule' };
const OTHER_TAINT = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
const SPARE = { 'plimsoll.dev/spare-memory': '1073741824', 'plimsoll.dev/spare-cpu': '500' };
const LABELS = { 'app.kubernetes.io/part-of': 'plimsoll' };
const NOW = '2026-01-01T00:00:00Z';

function condition(type: string): object {
  return { type, status: 'False', reason: 'None', message: '', lastHeartbeatTime: NOW, lastTransitionTime: NOW };
}

function waiting(name: string, gates: readonly string[]): object {
  const containers = [{ name: 'c', image: 'i' }];
  return { metadata: { name }, spec: { containers, schedulingGates: gates.map((gate) => ({ name: gate })) } };
}

describe('plimsoll uninstall --clean-up', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    for (const name of ['plimsoll-system', 'team-a'])
      await createObject(admin, { resource: NAMESPACES }, { metadata: { name } });
    for (const name of ['plimsoll-queues', 'plimsoll-webhook', 'other'])
      await createObject(admin, { resource: LEASES, namespace: 'plimsoll-system' }, { metadata: { name }, spec: {} });
    const node = { metadata: { name: 'n1' }, spec: { taints: [OWN_TAINT, OTHER_TAINT] } };
    await createObject(admin, { resource: NODES }, node);
    const conditions = ['Ready', 'plimsoll.dev/MemoryContention', 'plimsoll.dev/IoContention'].map(condition);
    const status = { resource: NODES, name: 'n1', subresource: 'status' };
    const room = { capacity: { memory: '8Gi', ...SPARE }, allocatable: SPARE };
    await patchObject(admin, status, { status: { conditions, ...room } }, { type: 'merge' });
    const pods = { resource: PODS, namespace: 'team-a' };
    await createObject(admin, pods, waiting('a', ['plimsoll.dev/queue']));
    await createObject(admin, pods, waiting('b', ['plimsoll.dev/queue', 'example.com/quota']));
    await createObject(admin, pods, waiting('c', ['example.com/quota']));
  });
  const run = (...more: readonly string[]) => runPlimsoll([...ARGS, ...more, '--kubeconfig', kubeconfig]);
  const get = async (path: string): Promise<unknown> => at(await client().request({ path }), 'object');

  const LEFT = [
    'pod/a in namespace team-a: scheduling gate plimsoll.dev/queue removed',
    'pod/b in namespace team-a: scheduling gate plimsoll.dev/queue removed',
    'node/n1: taint plimsoll.dev/memory-pressure removed',
    'node/n1: conditions plimsoll.dev/MemoryContention, plimsoll.dev/IoContention removed',
    'node/n1: spare room removed',
    'lease/plimsoll-queues in namespace plimsoll-system removed',
    'lease/plimsoll-webhook in namespace plimsoll-system removed',
  ];

  test('does nothing while a process would write it again', async () => {
    const labels = { app: 'webhook' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    const deployments = { resource: DEPLOYMENTS, namespace: 'plimsoll-system' };
    await createObject(client(), deployments, { metadata: { name: 'plimsoll-webhook', labels: LABELS }, spec });
    const { code, stdout, stderr } = await run();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('cannot clean up while plimsoll-system/plimsoll-webhook is installed');
    const path = '/apis/apps/v1/namespaces/plimsoll-system/deployments/plimsoll-webhook';
    await client().request({ method: 'DELETE', path });
  });

  test('lists in a dry run what it would remove, and removes nothing', async () => {
    const { code, stdout } = await run('--dry-run=client');
    expect([code, stdout.trimEnd().split('\n')]).toEqual([0, LEFT.map((line) => `${line} (dry run)`)]);
    expect(at(await get('/api/v1/nodes/n1'), 'spec.taints')).toHaveLength(2);
  });

  test('removes what is ours, and nothing of others', async () => {
    const { code, stdout, stderr } = await run();
    expect([code, stderr, stdout.trimEnd().split('\n')]).toEqual([0, '', LEFT]);
    const node = await get('/api/v1/nodes/n1');
    expect(at(node, 'spec.taints')).toEqual([OTHER_TAINT]);
    expect((at(node, 'status.conditions') as readonly object[]).map((each) => at(each, 'type'))).toEqual(['Ready']);
    expect(at(node, 'status.capacity')).toEqual({ memory: '8Gi' });
    expect(Object.keys(at(node, 'status.allocatable') ?? {})).not.toContain('plimsoll.dev/spare-cpu');
    const pods = at(await get('/api/v1/namespaces/team-a/pods'), 'items') as readonly object[];
    const gates = pods.map((pod) =>
      ((at(pod, 'spec.schedulingGates') ?? []) as readonly object[]).map((gate) => at(gate, 'name')),
    );
    expect(gates).toEqual([[], ['example.com/quota'], ['example.com/quota']]);
    const leases = at(await get('/apis/coordination.k8s.io/v1/namespaces/plimsoll-system/leases'), 'items');
    expect((leases as readonly object[]).map((lease) => at(lease, 'metadata.name'))).toEqual(['other']);
    expect(await run()).toEqual({ code: 0, stdout: '', stderr: 'nothing is left\n' });
  });
});
