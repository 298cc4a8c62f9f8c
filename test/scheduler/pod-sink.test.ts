import { expect, test } from 'vitest';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createPodSink } from '#scheduler/pod-sink.ts';
import { createPodReader } from '#scheduler/read-pods.ts';

function pod(uid: string, spec: object = {}): KubeObject {
  return { metadata: { namespace: 'team', name: 'db-0', uid }, spec: { nodeName: 'node-1', ...spec }, status: {} };
}

function opened() {
  const snapshot = emptySnapshot();
  const reported: string[] = [];
  const seen: (readonly [string, string | undefined])[] = [];
  const report = (error: unknown, what: string) => reported.push(`${what}: ${String(error)}`);
  const sink = createPodSink(snapshot, createPodReader(), report, ({ pod: { spec }, previous }) =>
    seen.push([String(spec.nodeName), previous?.pod.spec.nodeName]),
  );
  const on = (node: string) => snapshot.occupancies.get(node)?.pods.map(({ pod: { uid } }) => uid) ?? [];
  return { sink, snapshot, reported, seen, on };
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
