import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { makeSnapshot } from '#cli/snapshot/make-snapshot.ts';
import { createPseudonyms } from '#cli/snapshot/pseudonyms.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { CONFIG_MAPS, NAMESPACES, NODES, PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { folderWith, itemsIn, runPlimsoll } from './run-plimsoll.ts';
import { sandboxCluster } from './sandbox-cluster.ts';
import { manifestsOf } from './vector-cluster.ts';

const SCHEDULER_FILE = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: { kubeconfig: /secret/path }
profiles:
  - schedulerName: batch
    plugins: { postFilter: { disabled: [{ name: DefaultPreemption }] } }
`;
const QUOTA = { metadata: { name: 'gold' }, spec: { priority: { min: 1000 }, hard: { 'requests.cpu': '10' } } };
const USED = { used: { 'requests.cpu': '3' }, byNamespace: [{ namespace: 'payments', used: { 'requests.cpu': '3' } }] };

describe('a snapshot as a support bundle', () => {
  const cluster = sandboxCluster(async (client) => {
    await installPlimsoll(client);
    for (const name of ['payments', 'kube-system'])
      await createObject(client, { resource: NAMESPACES }, { metadata: { name } });
    await createObject(client, { resource: NODES }, { metadata: { name: 'node-1' } });
    const maps = { resource: CONFIG_MAPS, namespace: 'kube-system' };
    await createObject(client, maps, { metadata: { name: 'batch-scheduler' }, data: { file: SCHEDULER_FILE } });
    await createObject(client, maps, { metadata: { name: 'other' }, data: { password: 'hunter2' } });
    await createObject(client, { resource: PRIORITY_QUOTAS }, QUOTA);
    const address = { resource: PRIORITY_QUOTAS, name: 'gold', subresource: 'status' };
    await patchObject(client, address, { status: USED }, { type: 'merge' });
  });
  const file = join(folderWith({}), 'cluster.json');
  const both = async (...words: readonly string[]) => {
    const live = await runPlimsoll([...words, '--kubeconfig', cluster.kubeconfig]);
    return { live, saved: await runPlimsoll([...words, '-f', file]) };
  };

  test('check finds in it what it finds in the cluster, except what only the cluster can say', async () => {
    await runPlimsoll(['snapshot', '--kubeconfig', cluster.kubeconfig, '-o', file]);
    const { live, saved } = await both('check', '-o', 'json');
    const findings = itemsIn(saved.stdout) as readonly { readonly subject: string; readonly text: string }[];
    const onlyLive = ['installation', 'rights', 'accounts', 'nodes'];
    const expected = (itemsIn(live.stdout) as typeof findings).filter(({ subject }) => !onlyLive.includes(subject));
    expect(findings).toEqual(expected);
    expect(findings.map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringContaining('kube-system/batch-scheduler')]),
    );
  });

  test.each([
    ['explain', 'quota', 'gold'],
    ['top', 'quotas'],
    ['top', 'priorities'],
  ])('%s %s answers from it as from the cluster', async (...words) => {
    const { live, saved } = await both(...words);
    expect(saved).toEqual({ ...live, code: 0 });
    expect(saved.stdout).not.toBe('');
  });

  test('holds of ConfigMaps nothing but profiles of kube-scheduler', async () => {
    const { stdout } = await runPlimsoll(['snapshot', '--kubeconfig', cluster.kubeconfig]);
    expect(/hunter2|secret|"other"/.exec(stdout)?.[0]).toBeUndefined();
  });

  test('what its author might not list is not mistaken for missing', async () => {
    const items = manifestsOf([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }]);
    const unread = ['CustomResourceDefinition', 'ConfigMap'];
    const { stdout } = await runPlimsoll(
      ['check', '-f', '-', '-o', 'json'],
      JSON.stringify(makeSnapshot({ manifests: items, takenAt: '2026-01-01T00:00:00Z', unread })),
    );
    const texts = (itemsIn(stdout) as readonly { readonly text: string }[]).map(({ text }) => text);
    expect(texts.filter((text) => /definition/i.test(text))).toEqual([
      expect.stringContaining(
        'the snapshot does not contain customresourcedefinitions.apiextensions.k8s.io: its author may not list them',
      ),
    ]);
  });
});

test('redacted, quotas count the same classes and name no user, namespace or ResourceQuota', () => {
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['gold'] }] };
  const objects = [
    { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityQuota', ...QUOTA, status: USED },
    {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'PriorityPolicy',
      metadata: { name: 'tenants' },
      spec: { subjects: [{ kind: 'User', name: 'alice' }], allowedPriorityClassNames: ['gold'] },
    },
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { namespace: 'payments', name: 'alice-quota' },
      spec: { scopeSelector, hard: { pods: '3' } },
    },
  ];
  const pseudonym = createPseudonyms(Buffer.from('a key of these tests'));
  const text = JSON.stringify(makeSnapshot({ manifests: manifestsOf(objects), takenAt: '' }, pseudonym));
  expect(/payments|alice/.exec(text)?.[0]).toBeUndefined();
  expect(text).toContain(JSON.stringify(scopeSelector));
  expect(text).toContain('"allowedPriorityClassNames":["gold"]');
  expect(text).toContain(`"namespace":"${pseudonym('ns', 'payments')}"`);
});
