import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createObject, getObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES, PRIORITY_CLASSES, PRIORITY_QUOTAS, QUEUES } from '#shared/kube/resource.ts';
import { runPlimsoll } from './run-plimsoll.ts';
import { sandboxCluster } from './sandbox-cluster.ts';

describe('plimsoll init', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    await installPlimsoll(admin);
    // An operator's own, which one for all nodes would overrule by its name.
    const spec = { mode: 'Enforce', evictionHard: { 'memory.available': '200Mi' } };
    await createObject(admin, { resource: NODE_PRESSURE_POLICIES }, { metadata: { name: 'batch' }, spec });
    await createObject(admin, { resource: PRIORITY_CLASSES }, { metadata: { name: 'high' }, value: 7 });
  });
  const init = (...args: readonly string[]) => runPlimsoll(['init', ...args, '--kubeconfig', kubeconfig]);

  test('prints the objects of the example', async () => {
    const { code, stdout } = await runPlimsoll(['init']);
    const documents = (text: string): readonly unknown[] =>
      parseAllDocuments(text).map((each) => each.toJS() as unknown);
    expect([code, documents(stdout)]).toEqual([0, documents(readFileSync('deploy/examples/first-day.yaml', 'utf8'))]);
  });

  test.each(['client', 'server'])('--dry-run=%s creates nothing', async (strategy) => {
    const { code, stdout } = await init('--apply', `--dry-run=${strategy}`);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^priorityclass.*\/standard created \(.*dry run\)$/m)]);
    expect((await getObject(client(), { resource: PRIORITY_CLASSES, name: 'standard' })).kind).toBe('notFound');
  });

  test('creates what is missing, and neither changes nor overrules what exists', async () => {
    const first = await init('--apply');
    expect([first.code, first.stdout.trimEnd().split('\n')]).toEqual([
      0,
      [
        'priorityclass.scheduling.k8s.io/standard created',
        'priorityclass.scheduling.k8s.io/high unchanged',
        'prioritypolicy.plimsoll.dev/tenants created',
        'priorityquota.plimsoll.dev/high-tier created',
        'queue.plimsoll.dev/tenants created',
        'nodepressurepolicy.plimsoll.dev/all-nodes not created: batch exists, which it could overrule',
      ],
    ]);
    expect(first.stderr).toContain('kubectl label namespace NAME plimsoll.dev/managed=true');
    expect(await getObject(client(), { resource: PRIORITY_CLASSES, name: 'high' })).toMatchObject({
      object: { value: 7 },
    });
    for (const [resource, name] of [
      [PRIORITY_QUOTAS, 'high-tier'],
      [QUEUES, 'tenants'],
    ] as const)
      expect((await getObject(client(), { resource, name })).kind).toBe('ok');
    const second = await init('--apply');
    expect(second.stdout.match(/ unchanged$/gm)).toHaveLength(5);
  });
});
