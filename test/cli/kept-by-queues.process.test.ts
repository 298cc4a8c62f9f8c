import { expect, test } from 'vitest';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { pendingReason } from '#cli/why-not/pending-reason.ts';
import { runPlimsoll } from './run-plimsoll.ts';
import { takenList } from './node-pressures.ts';
import { manifestsOf } from './vector-cluster.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const KEPT = 'queue prod would be below its guarantee (cpu 4 of 4) without such a pod';

function cluster(guaranteedCpu: number): readonly object[] {
  const queue = (name: string, spec: object) => ({
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'Queue',
    metadata: { name },
    spec: { namespaceSelector: { matchLabels: { team: name } }, ...spec },
  });
  const namespace = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { team: name, 'plimsoll.dev/queues': 'managed' } },
  });
  const node = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { allocatable: { cpu: '2', memory: '8Gi', pods: '110' } },
  });
  const pod = (namespaceName: string, name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: namespaceName, name, uid: `uid-${name}` },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }], ...spec },
  });
  return [
    queue('prod', { guaranteed: { cpu: String(guaranteedCpu) } }),
    queue('other', {}),
    ...['prod', 'other'].map(namespace),
    ...['n0', 'n1'].flatMap((name) => [node(name), pod('prod', `on-${name}`, { nodeName: name })]),
    pod('other', 'waiting', { priority: 10 }),
  ];
}

function reason(guaranteedCpu: number, extender: boolean) {
  const model = clusterModel({ manifests: manifestsOf(cluster(guaranteedCpu)), now: NOW, namespace: 'default' });
  const setup = { extender, budgets: 'BestEffort', now: NOW } as const;
  const { because, nodes, explanations } = pendingReason(model, findPod(model, 'other/waiting', ''), setup);
  return [because.code, nodes.map((each) => each.reason), explanations.map(({ text }) => text)];
}

test('why-not names the queue whose pods stay, once for all nodes', () => {
  expect(reason(4, true)).toEqual(['Protected', ['a queue would be below its guarantee'], [KEPT]]);
});

test.each([
  ['the queue is above its guarantee', 2, true],
  ['kube-scheduler asks no extender', 4, false],
])('nothing is kept where %s', (_, guaranteedCpu, extender) => {
  expect(reason(guaranteedCpu, extender)[0]).toBe('nodeName');
});

test('explain says the same of a pod that waits', async () => {
  const { stdout } = await runPlimsoll(['explain', 'pod', 'other/waiting', '-f', '-'], takenList([...cluster(4)]));
  expect(stdout).toContain(KEPT);
});
