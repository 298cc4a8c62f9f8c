import { describe, expect, test } from 'vitest';
import { createObject, getObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const GATE = { name: 'plimsoll.dev/queue' };
const OTHER = { name: 'example.com/other' };

describe('plimsoll queue release', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    for (const name of ['shop', 'bank']) await createObject(admin, { resource: NAMESPACES }, { metadata: { name } });
    const pods = [
      ['shop', 'plain', []],
      ['shop', 'waiting', [GATE]],
      ['shop', 'twice', [OTHER, GATE]],
      ['bank', 'also', [GATE]],
    ] as const;
    for (const [namespace, name, schedulingGates] of pods) {
      const spec = { containers: [{ name: 'main', image: 'nginx' }], schedulingGates };
      const created = await createObject(admin, { resource: PODS, namespace }, { metadata: { name }, spec });
      expect(created).toMatchObject({ kind: 'ok' });
    }
  });
  const release = (...args: readonly string[]) =>
    runPlimsoll(['queue', 'release', ...args, '--kubeconfig', kubeconfig]);
  const gatesOf = async (namespace: string, name: string) => {
    const found = await getObject(client(), { resource: PODS, namespace, name });
    return found.kind === 'ok' ? (fieldOf(found.object['spec'], 'schedulingGates') ?? []) : found.kind;
  };

  test('a dry run takes no gate off', async () => {
    expect(await release('-n', 'bank', '--dry-run=client')).toEqual({
      code: 0,
      stdout: 'pod/also released in namespace bank (dry run)\n',
      stderr: '',
    });
    expect(await gatesOf('bank', 'also')).toEqual([GATE]);
  });

  test('takes its own gate off the pods of a namespace, and no other gate', async () => {
    expect(await release('-n', 'shop')).toEqual({
      code: 0,
      stdout:
        'pod/twice released in namespace shop, still held by example.com/other\npod/waiting released in namespace shop\n',
      stderr: '',
    });
    expect(await gatesOf('shop', 'twice')).toEqual([OTHER]);
    expect(await gatesOf('shop', 'waiting')).toEqual([]);
    expect(await gatesOf('bank', 'also')).toEqual([GATE]);
  });

  test('of all namespaces, and then no pod is left', async () => {
    expect(await release('-A')).toMatchObject({ code: 0, stdout: 'pod/also released in namespace bank\n' });
    expect(await release('-A')).toEqual({ code: 0, stdout: '', stderr: 'no pod waits in a queue\n' });
  });

  test('of one namespace or of all, not both', async () => {
    expect(await release('-A', '-n', 'shop')).toMatchObject({
      code: 2,
      stderr: "error: '--namespace' and '--all-namespaces' exclude each other\n",
    });
  });
});
