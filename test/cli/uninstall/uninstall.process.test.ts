import { describe, expect, test } from 'vitest';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createObject, type ObjectList, patchObject } from '#shared/kube/client/objects.ts';
import {
  DISRUPTION_LIMITS,
  NAMESPACES,
  NODE_PRESSURES,
  NODES,
  PRIORITY_POLICIES,
  RESCHEDULING_POLICIES,
} from '#shared/kube/resource.ts';
import { at } from '#test/contract/harness.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const ARGS = ['uninstall', '--dry-run=client'];
const TAINT = { key: 'plimsoll.dev/memory-pressure', effect: 'NoSchedule' };
const THROTTLED = {
  container: 'main',
  before: 4000,
  from: 4000,
  to: 1750,
  used: 3000,
  at: '2026-01-01T00:00:00Z',
  because: { code: 'CpuLimitLowered', text: 'the node is short of CPU', facts: {} },
};
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Kinds of which there is an object. */
const WITH_ONE = ['disruptionlimits', 'nodepressures', 'prioritypolicies', 'reschedulingpolicies'];

describe('plimsoll uninstall --dry-run=client', () => {
  const empty = sandboxCluster(() => Promise.resolve());
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    await installPlimsoll(admin);
    // The labels of these come from the kustomization, which the sandbox does not read.
    const marked = { metadata: { labels: { 'app.kubernetes.io/part-of': 'plimsoll' } } };
    for (const name of ['plimsoll-node', 'plimsoll-system'])
      await patchObject(admin, { resource: NAMESPACES, name }, marked, { type: 'merge' });
    const spec = { taints: [TAINT, { key: 'dedicated', value: 'db', effect: 'NoSchedule' }] };
    await createObject(admin, { resource: NODES }, { metadata: { name: 'n1' }, spec });
    const room = { status: { capacity: { 'plimsoll.dev/spare-memory': '1073741824' } } };
    await patchObject(admin, { resource: NODES, name: 'n1', subresource: 'status' }, room, { type: 'merge' });
    await createObject(admin, { resource: NODE_PRESSURES }, { metadata: { name: 'n1' }, spec: {} });
    const throttled = ['team-a/hog', 'team-a/$(reboot)'].map((pod, uid) => ({ ...THROTTLED, pod, uid: String(uid) }));
    const lowered = { status: { throttled } };
    await patchObject(admin, { resource: NODE_PRESSURES, name: 'n1', subresource: 'status' }, lowered, {
      type: 'merge',
    });
    const labels = { 'plimsoll.dev/priority-quota': 'enforced', team: 'a' };
    await createObject(admin, { resource: NAMESPACES }, { metadata: { name: 'team-a', labels } });
    await createObject(admin, { resource: PRIORITY_POLICIES }, { metadata: { name: 'p' }, spec: {} });
    await createObject(admin, { resource: RESCHEDULING_POLICIES }, { metadata: { name: 'r' }, spec: {} });
    const limit = { metadata: { name: 'l' }, spec: { selector: {}, minAvailable: 1 } };
    await createObject(admin, { resource: DISRUPTION_LIMITS, namespace: 'team-a' }, limit);
  });

  test('lists what is removed, the namespaces last, and what stays', async () => {
    const { code, stdout, stderr } = await runPlimsoll([...ARGS, '--kubeconfig', kubeconfig]);
    const [removed = '', stays = ''] = stdout.split('\n\n');
    const lines = removed.split('\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines[0]).toMatch(
      /^validatingadmissionpolicybinding\.admissionregistration\.k8s\.io ".+" deleted \(dry run\)$/,
    );
    expect(lines.slice(-2)).toEqual([
      'namespace "plimsoll-node" deleted (dry run)',
      'namespace "plimsoll-system" deleted (dry run)',
    ]);
    expect(stays.split('\n').map((line) => line.split(/ {3,}/))).toEqual([
      ['STAYS', 'HOW TO REMOVE IT'],
      [
        'pod team-a/hog, CPU limit lowered',
        'relief: [Evict] in the NodePressurePolicy, while agents run; then kubectl patch pod --subresource=resize',
      ],
      ...[
        'disruptionaccounts',
        'disruptionlimits',
        'disruptionpolicies',
        'disruptions',
        'nodepressurepolicies',
        'nodepressures',
        'prioritypolicies',
        'priorityquotas',
        'priorityrules',
        'queues',
        'queueselectors',
        'reschedulingpolicies',
      ].map((kind) => {
        const name = `${kind}.plimsoll.dev`;
        const count = WITH_ONE.includes(kind) ? '1 object' : '0 objects';
        const next = `kubectl delete customresourcedefinition ${name} deletes its objects too`;
        return [`customresourcedefinition ${name}, ${count}`, next];
      }),
      [`node n1, taint ${TAINT.key}`, `kubectl taint nodes n1 ${TAINT.key}-`],
      ['node n1, spare room', 'plimsoll uninstall --clean-up, once nothing is installed'],
      [
        'namespace team-a, label plimsoll.dev/priority-quota',
        'kubectl label namespace team-a plimsoll.dev/priority-quota-',
      ],
      [''],
    ]);
  });

  test('removes nothing', async () => {
    const before = (await client().request({ path: DEFINITIONS })) as { readonly object: ObjectList };
    await runPlimsoll([...ARGS, '--kubeconfig', kubeconfig]);
    const after = await client().request({ path: DEFINITIONS });
    expect(at(after, 'object.items')).toEqual(before.object.items);
  });

  test('where nothing is installed', async () => {
    expect(await runPlimsoll([...ARGS, '--kubeconfig', empty.kubeconfig])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No resources found\n',
    });
  });

  test('as data', async () => {
    const { stdout } = await runPlimsoll([...ARGS, '-o', 'json', '--kubeconfig', kubeconfig]);
    expect(at(JSON.parse(stdout), 'removed')).toContainEqual({
      resource: 'namespace',
      name: 'plimsoll-node',
      namespace: '',
    });
  });
});
