import { expect, test } from 'vitest';
import { explainHeldRoom, explainUnmodelledNeeds } from '#shared/domain/preemption/explain/explain-stuck-preemptor.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const pod = (name: string, fields: Partial<PodFields> = {}) => buildPod({ name, requests: { cpu: '10' }, ...fields });
const leaving = { ...pod('leaving', { node: 'n' }), deletion: { at: NOW + 12_500, gracePeriodSeconds: 30 } };
const over = { ...pod('over', { node: 'n' }), deletion: { at: NOW - 1, gracePeriodSeconds: 30 } };
const pods = [
  leaving,
  over,
  pod('equal', { priority: 100, nominatedTo: 'n' }),
  pod('lower', { priority: 99, nominatedTo: 'n' }),
];
const snapshot = createSnapshot({ nodes: [buildNode({ name: 'n', allocatable: { cpu: '10' } })], pods });

test('the pods that hold room: nominated with at least the priority, and terminating until when', () => {
  const state = prefilter(snapshot, pod('pending', { priority: 100 }));
  expect(explainHeldRoom(state, ['n', 'gone'], { now: NOW }).map(({ text }) => text)).toEqual([
    'pod default/equal (priority 100) is nominated to n and holds room there',
    'pod default/leaving on n is terminating; its grace period ends in 13 s',
    'pod default/over on n is terminating; its grace period is over',
  ]);
});

test('with a claim it is not known whether a pod fits', () => {
  const pending = pod('pending');
  const claiming = { ...pending, spec: { ...pending.spec, resourceClaims: ['gpu'] } };
  expect(explainUnmodelledNeeds(prefilter(snapshot, pending))).toEqual([]);
  expect(explainUnmodelledNeeds(prefilter(snapshot, claiming))).toEqual([
    {
      code: 'OutsideTheModel',
      text: 'not known whether it fits: only kube-scheduler checks ResourceClaim gpu',
      facts: { needs: 'ResourceClaim gpu' },
    },
  ]);
});
