import { describe, expect, test } from 'vitest';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { createPodSink } from '#scheduler/pod-sink.ts';
import { buildNode } from '#test/build/cluster.ts';

function pod(uid: string, spec: object = {}): KubeObject {
  return { metadata: { namespace: 'team', name: 'db-0', uid }, spec: { nodeName: 'node-1', ...spec }, status: {} };
}

function opened() {
  const snapshot = emptySnapshot();
  const reported: string[] = [];
  const seen: (readonly [string, string | undefined])[] = [];
  const report = (error: unknown, what: string) => reported.push(`${what}: ${String(error)}`);
  const gone: (readonly [string, boolean])[] = [];
  const sink = createPodSink(snapshot, report, {
    observePod: ({ pod: { spec }, previous }) => seen.push([String(spec.nodeName), previous?.pod.spec.nodeName]),
    observeGone: (uid, { raw }) => gone.push([uid, raw !== undefined]),
  });
  const on = (node: string) => snapshot.occupancies.get(node)?.pods.map(({ pod: { uid } }) => uid) ?? [];
  return { sink, snapshot, reported, seen, gone, on };
}

test('a list with a namesake removes the pod that it lacks', () => {
  const { sink, on } = opened();
  sink.set(pod('first'));
  const removeUnseen = sink.replace();
  sink.set(pod('second', { nodeName: 'node-2' }));
  removeUnseen();
  expect([on('node-1'), on('node-2')]).toEqual([[], ['second']]);
});

test('what a list has stays, and later changes are not mistaken for it', () => {
  const { sink, on } = opened();
  sink.set(pod('first'));
  const removeUnseen = sink.replace();
  sink.set(pod('first'));
  removeUnseen();
  sink.set(pod('second'));
  sink.remove(pod('first'));
  expect(on('node-1')).toEqual(['second']);
});

test('a pod that can no longer be read is removed and reported', () => {
  const { sink, on, reported } = opened();
  sink.set(pod('first'));
  sink.set(pod('first', { priority: 'high' }));
  expect(on('node-1')).toEqual([]);
  expect(reported).toEqual([expect.stringContaining('object team/db-0 cannot be read: Error: spec.priority')]);
});

test('each pod is shown with what was known of it before', () => {
  const { sink, seen } = opened();
  sink.set(pod('first'));
  sink.set(pod('first', { nodeName: 'node-2' }));
  expect(seen).toEqual([
    ['node-1', undefined],
    ['node-2', 'node-1'],
  ]);
});

describe('pods that are unusually large (T-37)', () => {
  const MANY = 200;
  const terms = Array.from({ length: 60 }, (_, index) => ({
    topologyKey: 'zone',
    labelSelector: { matchLabels: { app: `value-${index}`.padEnd(60, 'x') } },
  }));

  function largePod(index: number, namespace = 'team', priority = 0): KubeObject {
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    const containers = [{ name: 'main', resources: { requests: { cpu: '1', 'example.com/gpu': '1' } } }];
    const metadata = { namespace, name: `p-${index}`, uid: `${namespace}-${index}`, labels: { app: `${index}` } };
    return { metadata, spec: { nodeName: 'node-1', priority, containers, affinity }, status: {} };
  }

  test('of a namespace are read without affinity and labels beyond its share', () => {
    const { sink, snapshot } = opened();
    for (let index = 0; index < 2 * MANY; index += 1) sink.set(largePod(index));
    sink.set(largePod(0, 'other'));
    expect(snapshot.antiAffine.size).toBeGreaterThan(MANY);
    expect(snapshot.antiAffine.size).toBeLessThan(2 * MANY);
    expect(snapshot.placedPods.get('other-0')?.antiAffinity).toHaveLength(terms.length);
    expect(snapshot.placedPods.get(`team-${2 * MANY - 1}`)?.pod.labels).toEqual(new Map());
  });

  test('count with all that they take, whether details are read or not', () => {
    const { sink, snapshot } = opened();
    putNode(snapshot, buildNode({ name: 'node-1', allocatable: { cpu: '900', 'example.com/gpu': '900' } }));
    for (let index = 0; index < 2 * MANY; index += 1) sink.set(largePod(index, 'team', 7));
    const { requested, pods } = snapshot.occupancies.get('node-1') ?? { requested: [], pods: [] };
    expect([requested[0], requested[snapshot.columns.indexes.get('example.com/gpu') ?? -1]]).toEqual([400_000, 400]);
    expect(new Set(pods.map(({ priority }) => priority))).toEqual(new Set([7]));
  });

  test('that are gone or nowhere leave their share to others', () => {
    const { sink, snapshot } = opened();
    for (let index = 0; index < 2 * MANY; index += 1) sink.set(largePod(index));
    for (let index = 0; index < 2 * MANY; index += 1) {
      if (index % 2 === 0) sink.remove(largePod(index));
      else sink.set({ ...largePod(index), status: { phase: 'Succeeded' } });
    }
    sink.set(largePod(1_000));
    expect(snapshot.placedPods.get('team-1000')?.antiAffinity).toHaveLength(terms.length);
  });
});
