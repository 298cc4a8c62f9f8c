import { expect, test } from 'vitest';
import { planPreemption } from '#shared/domain/placement/plan/plan-preemption.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

test('the preemption of a DaemonSet pod looks only at its own node (S2-4)', () => {
  const nodes = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '1' } }));
  const pods = [
    buildPod({ name: 'important', node: 'n0', priority: 50, requests: { cpu: '1' } }),
    buildPod({ name: 'cheap', node: 'n1', priority: 1, requests: { cpu: '1' } }),
  ];
  // As the DaemonSet controller writes it.
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n0'] }];
  const nodeAffinity = { terms: [{ matchExpressions: [], matchFields }] };
  const pod = buildPod({ name: 'daemon', priority: 100, requests: { cpu: '1' }, scheduling: { nodeAffinity } });
  const plan = planPreemption(createSnapshot({ nodes, pods }), pod);
  expect(plan.kind === 'preempt' && plan.candidates.map(({ node }) => node)).toEqual(['n0']);
  const unbound = { ...pod, spec: { ...pod.spec, scheduling: { ...pod.spec.scheduling, nodeAffinity: undefined } } };
  const free = planPreemption(createSnapshot({ nodes, pods }), unbound);
  expect(free.kind === 'preempt' && free.candidates.map(({ node }) => node)).toEqual(['n0', 'n1']);
});
