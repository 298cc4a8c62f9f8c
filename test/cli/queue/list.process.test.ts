import { describe, expect, test } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

describe('plimsoll queue list -n', () => {
  const { kubeconfig } = sandboxCluster(async (admin) => {
    for (const name of ['shop', 'bank']) await createObject(admin, { resource: NAMESPACES }, { metadata: { name } });
    const containers = [{ name: 'main', image: 'nginx' }];
    const gated = { containers, schedulingGates: [{ name: 'plimsoll.dev/queue' }] };
    const inShop = { resource: PODS, namespace: 'shop' };
    await createObject(admin, inShop, { metadata: { name: 'waiting' }, spec: gated });
    await createObject(admin, inShop, { metadata: { name: 'plain' }, spec: { containers } });
  });
  const list = (...args: readonly string[]) => runPlimsoll(['queue', 'list', ...args, '--kubeconfig', kubeconfig]);

  test('shows the pods in queues, and says what it does not show', async () => {
    const { code, stdout, stderr } = await list('-n', 'shop');
    expect([code, stdout.split('\n').slice(1).join('\n')]).toEqual([0, expect.stringMatching(/^waiting .*\n$/)]);
    expect(stderr).toMatch(/^Warning: .*what queues deserve and use.*\n$/);
  });

  test('says that no pod is in a queue, to people alone', async () => {
    expect(await list('-n', 'bank')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Warning: .*\nno pod of namespace bank is in a queue\n$/) as string,
    });
    const { stdout, stderr } = await list('-n', 'bank', '-o', 'json');
    expect([JSON.parse(stdout), stderr]).toEqual([expect.objectContaining({ items: [] }), '']);
  });
});
