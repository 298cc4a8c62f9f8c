import { describe, expect, test } from 'vitest';
import { planReplicaSet } from '#sandbox/controllers/plan-replica-set.ts';
import { inShort, pod, replicaSet, statusIn } from './build.ts';

describe('planReplicaSet', () => {
  test('makes the pods that are missing; those that ended or leave do not count', () => {
    const pods = [
      pod('ended', { phase: 'Failed' }),
      pod('leaving', { deleted: true }),
      pod('foreign', { owner: 'other' }),
    ];
    const writes = planReplicaSet(replicaSet, pods);
    expect(writes.map(inShort)).toEqual(['create Pod of web-1', 'create Pod of web-1', 'patch web-1 status']);
    expect(writes[0]).toMatchObject({ object: { metadata: { generateName: 'web-1-', labels: { app: 'web' } } } });
  });

  test('lets go first who is on no node, then who is not ready, then the newest', () => {
    const pods = [
      pod('old'),
      pod('new', { createdAt: '2026-01-01T01:00:00Z' }),
      pod('unready', { isReady: false }),
      pod('pending', { node: '', phase: 'Pending', isReady: false }),
    ];
    const deletions = planReplicaSet({ ...replicaSet, spec: { ...replicaSet.spec, replicas: 1 } }, pods).map(inShort);
    expect(deletions.slice(0, 3)).toEqual(['delete pending', 'delete unready', 'delete new']);
  });

  test('writes nothing when all is as it should be and said so', () => {
    const status = statusIn(planReplicaSet(replicaSet, [pod('a'), pod('b')]));
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, observedGeneration: 1 });
    expect(planReplicaSet({ ...replicaSet, status }, [pod('a'), pod('b')])).toEqual([]);
  });

  test('makes nothing while it is being deleted', () => {
    const leaving = { ...replicaSet, metadata: { ...replicaSet.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(planReplicaSet(leaving, []).filter(({ kind }) => kind === 'create')).toEqual([]);
  });
});
