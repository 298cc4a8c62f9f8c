import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { TRAITS, traitsOfPods } from '#shared/domain/snapshot/placed-pod.ts';
import { removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { buildNode, buildPod, buildTerm } from '#test/build/cluster.ts';

const NODES = [buildNode({ name: 'n0', allocatable: { cpu: '4', memory: '4Gi' } })];

describe('what a pass over all pods looks for', () => {
  const both = { requests: { cpu: '1', memory: '1Gi' } };
  const status = (restartCount: number) => ({
    name: 'c',
    restartCount,
    resources: undefined,
    allocatedResources: undefined,
  });

  test.each<[string, Parameters<typeof buildPod>[0], number]>([
    ['nothing in an ordinary pod', { name: 'p', ...both }, 0],
    [
      'that it terminates',
      { name: 'p', ...both, deletion: { at: 0, gracePeriodSeconds: undefined } },
      TRAITS.terminating,
    ],
    [
      'rules about its node',
      { name: 'p', ...both, scheduling: { podAntiAffinity: [buildTerm({ app: 'a' })] } },
      TRAITS.placementRules,
    ],
    [
      'terms about other pods',
      { name: 'p', ...both, scheduling: { podAffinity: [buildTerm({ app: 'a' })] } },
      TRAITS.attracts,
    ],
    ['that it requests no memory', { name: 'p', requests: { cpu: '1' } }, TRAITS.lacksRequests],
  ])('is %s', (_, fields, expected) => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [buildPod({ node: 'n0', ...fields })] });
    expect(snapshot.placedPods.get('uid-p')?.traits).toBe(expected);
    expect(traitsOfPods((snapshot.nodes.get('n0') as NodeEntry).occupancy)).toBe(expected);
  });

  test.each(['containers', 'initContainers'] as const)('is that one of the %s has ended', (list) => {
    const pod = buildPod({ name: 'p', node: 'n0', ...both });
    const restarted = { ...pod, status: { ...pod.status, [list]: [status(0), status(1)] } };
    const snapshot = createSnapshot({ nodes: NODES, pods: [restarted] });
    expect(snapshot.placedPods.get('uid-p')?.traits).toBe(TRAITS.hasEnded);
    removePod(snapshot, restarted);
    expect(traitsOfPods((snapshot.nodes.get('n0') as NodeEntry).occupancy)).toBe(0);
  });
});
