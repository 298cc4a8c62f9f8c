import { describe, expect, test } from 'vitest';
import { type Kind, planGarbage } from '#sandbox/controllers/plan-garbage.ts';
import type { ReplicaSet, RunningPod } from '#sandbox/controllers/wire-workloads.ts';
import { PODS, REPLICA_SETS } from '#shared/kube/resource.ts';
import { inShort, pod, replicaSet } from './build.ts';

describe('planGarbage', () => {
  const kinds = (replicaSets: readonly ReplicaSet[], pods: readonly RunningPod[]): readonly Kind[] => [
    { resource: REPLICA_SETS, objects: replicaSets },
    { resource: PODS, objects: pods },
  ];
  const leaving = (finalizer: string): ReplicaSet => ({
    ...replicaSet,
    metadata: { ...replicaSet.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [finalizer] },
  });

  test.each([
    ['keeps what has its owner', kinds([replicaSet], [pod('a')]), []],
    ['removes what has lost it', kinds([], [pod('a')]), ['delete a']],
    ['does not remove twice', kinds([], [pod('a', { deleted: true })]), []],
    [
      'removes dependents first in a foreground deletion',
      kinds([leaving('foregroundDeletion')], [pod('a')]),
      ['delete a'],
    ],
    ['then lets the owner go', kinds([leaving('foregroundDeletion')], []), ['patch web-1']],
    ['frees orphans before the owner goes', kinds([leaving('orphan')], [pod('a')]), ['patch a']],
  ])('%s', (_what, given, writes) => {
    expect(planGarbage(given).map(inShort)).toEqual(writes);
  });

  test('leaves alone what belongs to a kind that it does not watch', () => {
    const owned = pod('a');
    const reference = { apiVersion: 'v1', kind: 'Node', name: 'sandbox', uid: 'node' };
    expect(
      planGarbage(kinds([], [{ ...owned, metadata: { ...owned.metadata, ownerReferences: [reference] } }])),
    ).toEqual([]);
  });
});
