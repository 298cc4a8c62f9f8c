import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES, NODES, PODS, PRIORITY_CLASSES, type Resource } from '#shared/kube/resource.ts';
import { makeSnapshot } from '#cli/snapshot/make-snapshot.ts';
import { createPseudonyms } from '#cli/snapshot/pseudonyms.ts';
import { EXAMPLE_DISRUPTIONS, EVICTED, PLACED_ELSEWHERE } from './disruptions/example-disruptions.ts';
import { EXAMPLE_CLUSTER, examplePod, uidOf } from './example-cluster.ts';
import { folderWith, runPlimsoll } from './run-plimsoll.ts';
import { sandboxCluster } from './sandbox-cluster.ts';
import { manifestsOf } from './vector-cluster.ts';

const pseudonym = createPseudonyms(Buffer.from('a key of these tests'));
const NODE_PRESSURE = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressure',
  metadata: { name: 'node-1' },
  spec: {
    avoid: [
      {
        owner: { namespace: 'reports', kind: 'Job', name: 'nightly', uid: 'u' },
        until: '2026-01-01T00:00:00Z',
        cause: 'reports/nightly-0 used too much',
        hard: false,
      },
    ],
    preemptionLoops: [
      {
        preemptor: { namespace: 'payments', kind: 'ReplicaSet', name: 'picky-owner' },
        victim: { namespace: 'reports', kind: 'Pod', name: 'nightly-0' },
        rounds: ['2026-01-01T00:00:00Z'],
        until: '2026-01-01T01:00:00Z',
      },
    ],
  },
  status: {
    observedAt: '2026-01-01T00:00:00Z',
    agent: { version: '1', pod: 'secret-agent' },
    next: [
      {
        pod: 'reports/nightly-0',
        uid: uidOf('nightly-0'),
        usage: '2Gi',
        because: {
          code: 'Ranked',
          text: 'before payments/ledger-0',
          facts: { usage: '2Gi', pod: 'nightly-0', priority: 3 },
        },
      },
    ],
  },
};
const POLICY = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'pool' },
  spec: { nodeSelector: { matchLabels: { team: 'payments' } }, protect: { namespaces: ['payments', 'kube-system'] } },
};
const PICKY = examplePod({
  name: 'picky-0',
  namespace: 'payments',
  className: 'batch',
  priority: -10,
  cpu: '1',
  metadata: {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'picky-owner', uid: 'o', controller: true }],
  },
  spec: {
    nodeSelector: { team: 'payments' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'reports', effect: 'NoSchedule' }],
    volumes: [
      { name: 'disk', persistentVolumeClaim: { claimName: 'secret-claim' } },
      { name: 'tmp', emptyDir: { medium: 'Memory' } },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'generation', operator: 'Gt', values: ['5'] },
                { key: 'generation', operator: 'In', values: ['7'] },
              ],
            },
          ],
        },
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: 'kubernetes.io/hostname',
            namespaces: ['reports'],
            labelSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['reports'] }] },
          },
        ],
      },
    },
  },
});
const ALL = [...EXAMPLE_CLUSTER, NODE_PRESSURE, POLICY, PICKY, ...EXAMPLE_DISRUPTIONS];
const SECRETS = /hunter2|alice@|registry\.example|secret-/;
const NAMES = /payments|reports|nightly|archive|ledger|checkout|invoice|picky|"main"/;

function taken(objects: readonly object[]): Parameters<typeof makeSnapshot>[0] {
  return { manifests: manifestsOf(objects), takenAt: '2026-01-01T00:00:00Z' };
}

function redacted(objects: readonly object[] = ALL): readonly Readonly<Record<string, unknown>>[] {
  return makeSnapshot(taken(objects), pseudonym).items;
}

describe('makeSnapshot', () => {
  test('keeps no environment, image, claim or annotation of others', () => {
    const text = JSON.stringify(makeSnapshot(taken(ALL)));
    expect(text).not.toMatch(/hunter2|alice@|registry\.example|secret-claim/);
    expect(text).toMatch(/"allow-preemption|plimsoll\.dev\/allow-preemption/);
    expect(text).toMatch(/"persistentVolumeClaim":\{\}/);
  });

  test('redacted, no name and no label value is left', () => {
    const text = JSON.stringify(redacted());
    expect([SECRETS.exec(text)?.[0], NAMES.exec(text)?.[0]]).toEqual([undefined, undefined]);
  });

  test('redacted, what decisions know by its name or as a number is left', () => {
    const text = JSON.stringify(redacted());
    expect(text).toContain('"kubernetes.io/hostname":"node-1"');
    expect(text).toContain('"values":["5"]');
    expect(text).toContain('"values":["7"]');
    expect(text).toContain('"kube-system"');
    expect(text).toContain('"plimsoll.dev/allow-preemption":"false"');
  });

  test('redacted, the same name stays the same wherever it stands', () => {
    const [namespace, pod] = [pseudonym('ns', 'reports'), pseudonym('pod', 'nightly-0')];
    const text = JSON.stringify(redacted());
    expect(text).toContain(`"pod":"${namespace}/${pod}"`);
    expect(text).toContain(`"metadata":{"name":"${pod}","namespace":"${namespace}"`);
    expect(text).toContain(`"namespaces":["${namespace}"]`);
    expect(text).toContain(`"kubernetes.io/metadata.name":"${namespace}"`);
    expect(text).toContain(`"name":"${pseudonym('owner', 'nightly')}"`);
    expect(text).toContain(`"kind":"ReplicaSet","name":"${pseudonym('owner', 'picky-owner')}"`);
    expect(text).toContain(`"kind":"Pod","name":"${pod}"`);
  });

  test('another key gives other pseudonyms', () => {
    expect(createPseudonyms(Buffer.from('another'))('pod', 'a')).not.toBe(pseudonym('pod', 'a'));
    expect(pseudonym('pod', 'a')).toMatch(/^pod-[0-9a-f]{15}$/);
    expect(pseudonym('pod', '')).toBe('');
  });
});

async function create(client: KubeClient, resource: Resource, object: object, namespace?: string): Promise<void> {
  const outcome = await createObject(client, { resource, namespace }, object);
  expect(outcome).toMatchObject({ kind: 'ok' });
}

describe('makeSnapshot, of Disruptions', () => {
  const recordOf = (of: { readonly spec: { readonly podUID: string } }, items: readonly object[]) => {
    const found = items.find((each) => JSON.stringify(each).includes(`"podUID":"${of.spec.podUID}"`));
    expect(found).toBeDefined();
    return found;
  };

  test('keeps all that explains a removal', () => {
    const { items } = makeSnapshot(taken(ALL));
    expect(recordOf(EVICTED, items)).toEqual(EVICTED);
  });

  test('redacted, cause and component are left, and the names of pods are those of the pods', () => {
    const pod = (name: string) => pseudonym('pod', name);
    expect(recordOf(EVICTED, redacted())).toMatchObject({
      metadata: { name: `${pod('nightly-7')}.0a1b2c3d`, namespace: pseudonym('ns', 'reports') },
      spec: {
        pod: pod('nightly-7'),
        cause: 'Eviction',
        requestedBy: 'plimsoll-agent',
        owner: { name: pseudonym('owner', 'nightly') },
        because: { code: 'Ranked', text: '' },
        ranked: [{ pod: pod('nightly-0') }, { priority: 1000 }],
      },
      status: { replacement: { pod: pod('nightly-8'), node: 'node-2' } },
    });
    const preempted = { ...PLACED_ELSEWHERE, spec: { ...PLACED_ELSEWHERE.spec, requestedBy: 'alice' } };
    expect(recordOf(preempted, redacted([preempted]))).toMatchObject({
      spec: { madeRoomFor: { pod: pod('checkout-0') }, requestedBy: pseudonym('user', 'alice') },
      status: { placedOn: 'node-2' },
    });
  });
});

describe('plimsoll snapshot', () => {
  const cluster = sandboxCluster(async (client) => {
    await create(client, NAMESPACES, { metadata: { name: 'payments' } });
    await create(client, PRIORITY_CLASSES, { metadata: { name: 'critical' }, value: 1000 });
    const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
    await create(client, NODES, { metadata: { name: 'node-1' }, status: { capacity: allocatable, allocatable } });
    const containers = [{ name: 'main', image: 'secret-image', env: [{ name: 'A', value: 'hunter2' }] }];
    const spec = { priorityClassName: 'critical', containers };
    await create(client, PODS, { metadata: { name: 'checkout-0' }, spec }, 'payments');
  });
  const run = (...args: readonly string[]) => runPlimsoll(['snapshot', '--kubeconfig', cluster.kubeconfig, ...args]);

  test('what it writes answers like the cluster', async () => {
    const file = join(folderWith({}), 'cluster.json');
    expect((await run('-o', file)).stderr).toMatch(/^Wrote \d+ objects to .*cluster\.json\n$/);
    const args = ['simulate', 'preempt', '--pod', 'payments/checkout-0', '-o', 'json'];
    const [live, saved] = await Promise.all([
      runPlimsoll([...args, '--kubeconfig', cluster.kubeconfig]),
      runPlimsoll([...args, '-f', file]),
    ]);
    expect(JSON.parse(saved.stdout)).toEqual(JSON.parse(live.stdout));
    expect(JSON.parse(live.stdout)).toMatchObject({ outcome: 'fits', nodes: ['node-1'], priority: 1000 });
  });

  test('a file is readable by its owner alone, and says when it was taken', async () => {
    const file = join(folderWith({}), 'cluster.yaml');
    const before = Date.now();
    await run('-o', file);
    const { metadata } = parse(readFileSync(file, 'utf8')) as { metadata: { annotations: Record<string, string> } };
    const takenAt = Date.parse(metadata.annotations['plimsoll.dev/snapshot-time'] ?? '');
    expect([statSync(file).mode & 0o777, takenAt >= before, takenAt <= Date.now()]).toEqual([0o600, true, true]);
  });

  test('redacted to standard output', async () => {
    const { code, stdout } = await run('--redact');
    expect([code, /checkout|payments|hunter2|secret-image/.exec(stdout)?.[0]]).toEqual([0, undefined]);
    expect(stdout).toContain('"priorityClassName":"critical"');
  });

  test('a place that cannot be written is an error', async () => {
    const { code, stderr } = await run('-o', '/nowhere/at/all.json');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: cannot write \/nowhere\/at\/all\.json: ENOENT/)]);
  });

  test('a cluster that cannot be reached is an error', async () => {
    const { code, stderr } = await runPlimsoll(['snapshot', '--kubeconfig', '/nowhere']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: cannot read kubeconfig "\/nowhere"/)]);
  });

  test('the other commands read the cluster, too', async () => {
    const flags = ['--kubeconfig', cluster.kubeconfig];
    const [check, whyNot, explain] = await Promise.all([
      runPlimsoll(['check', ...flags]),
      runPlimsoll(['why-not', 'checkout-0', ...flags]),
      runPlimsoll(['explain', 'pod', 'checkout-0', ...flags, '-o', 'json']),
    ]);
    expect([check.code, check.stdout]).toEqual([1, expect.stringContaining('no agent has reported from node-1')]);
    expect([whyNot.code, whyNot.stdout]).toEqual([0, expect.stringContaining('it fits on 1 node as it is')]);
    expect(JSON.parse(explain.stdout)).toMatchObject({
      metadata: { namespace: 'payments', name: 'checkout-0' },
      priority: 1000,
    });
  });
});
