import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { findObstacle } from '#shared/domain/placement/trial/examine-nodes.ts';
import { buildNode, buildPod, buildTerm, type PodFields } from '#test/build/cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const NODES = [
  buildNode({ name: 'here', labels: { [ZONE]: 'x' } }),
  buildNode({ name: 'near', labels: { [ZONE]: 'x' } }),
  buildNode({ name: 'far', labels: { [ZONE]: 'y' } }),
];

describe('findObstacle', () => {
  const apart = { podAntiAffinity: [buildTerm({ app: 'a' }, ZONE)] };
  const a = { labels: { app: 'a' } };

  test.each<[string, Partial<PodFields>, Partial<PodFields>, string | undefined]>([
    ['a pod in the zone that the pod avoids', { scheduling: apart }, { node: 'near', ...a }, 'p'],
    ['a pod in the zone that avoids the pod', a, { node: 'near', scheduling: apart }, 'p'],
    ['no pod in another zone', { scheduling: apart }, { node: 'far', ...a }, undefined],
    ['no pod on the node itself: that one may be preempted', { scheduling: apart }, { node: 'here', ...a }, undefined],
    ['no pod without anti-affinity on either side', {}, { node: 'near', ...a }, undefined],
    ['no pod of other labels', { scheduling: apart }, { node: 'near', labels: { app: 'b' } }, undefined],
    ['no pod that avoids others', { labels: { app: 'b' } }, { node: 'near', scheduling: apart }, undefined],
    [
      'no pod over a label that the node lacks',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, 'rack')] } },
      { node: 'near', ...a },
      undefined,
    ],
  ])('%s', (_, incoming, other, name) => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [buildPod({ name: 'p', ...other })] });
    const [here] = NODES;
    if (here === undefined) throw new Error('there are no nodes');
    const found = findObstacle(snapshot, buildPod({ name: 'incoming', ...incoming }), here);
    expect(found?.pod.name).toBe(name);
  });
});
