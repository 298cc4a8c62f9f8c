import { describe, expect, test } from 'vitest';
import { planDeployment } from '#sandbox/controllers/plan-deployment.ts';
import type { Deployment, ReplicaSet } from '#sandbox/controllers/wire-workloads.ts';
import type { Write } from '#sandbox/controllers/write.ts';
import { inShort, NOW, replicaSet, statusIn, template } from './build.ts';

describe('planDeployment', () => {
  const deployment: Deployment = {
    metadata: { name: 'web', namespace: 'team-a', uid: 'deployment', generation: 1 },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
  };

  function created(writes: readonly Write[]): ReplicaSet {
    const write = writes.find(({ kind }) => kind === 'create');
    if (write?.kind !== 'create') throw new Error('expected a ReplicaSet to be created');
    return { ...(write.object as ReplicaSet), metadata: { ...(write.object as ReplicaSet).metadata, uid: 'rs' } };
  }

  test('makes one ReplicaSet, and no second one for the same template', () => {
    const first = created(planDeployment(deployment, [], NOW));
    expect(first.metadata.name).toMatch(/^web-[0-9a-f]{10}$/);
    expect(first.spec.selector.matchLabels).toEqual(first.metadata.labels);
    expect(planDeployment(deployment, [first], NOW).map(inShort)).toEqual(['patch web status']);
  });

  test('makes another one for another template, with the next revision, and shrinks the first', () => {
    const first: ReplicaSet = {
      ...created(planDeployment(deployment, [], NOW)),
      status: { replicas: 2, availableReplicas: 2 },
    };
    const changed = {
      ...deployment,
      spec: { ...deployment.spec, template: { ...template, spec: { containers: [1] } } },
    };
    const writes = planDeployment(changed, [first], NOW);
    expect(created(writes)).toMatchObject({
      metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } },
      spec: { replicas: 1 },
    });
  });

  test('is available when enough pods are', () => {
    const set: ReplicaSet = {
      ...created(planDeployment(deployment, [], NOW)),
      status: { replicas: 2, readyReplicas: 2, availableReplicas: 2 },
    };
    expect(statusIn(planDeployment(deployment, [set], NOW))).toMatchObject({
      availableReplicas: 2,
      updatedReplicas: 2,
      conditions: [
        { type: 'Available', status: 'True' },
        { type: 'Progressing', status: 'True' },
      ],
    });
  });

  test('forgets revisions beyond its history, the oldest first', () => {
    const old = [3, 1, 2].map((revision): ReplicaSet => ({
      ...replicaSet,
      metadata: {
        name: `old-${revision}`,
        annotations: { 'deployment.kubernetes.io/revision': String(revision) },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'deployment', controller: true },
        ],
      },
      spec: { ...replicaSet.spec, replicas: 0 },
      status: { replicas: 0 },
    }));
    const brief = { ...deployment, spec: { ...deployment.spec, revisionHistoryLimit: 1 } };
    const deletions = planDeployment(brief, old, NOW).filter(({ kind }) => kind === 'delete');
    expect(deletions.map(inShort)).toEqual(['delete old-1', 'delete old-2']);
  });
});
