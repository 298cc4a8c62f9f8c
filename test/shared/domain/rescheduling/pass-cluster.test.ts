import { describe, expect, test } from 'vitest';
import { applyMove, nodeOf, scoredAmounts } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { amountsOf, buildNode, buildPod } from '#test/build/cluster.ts';
import { clusterWith, nodeIn, NOON, replica, runningIn } from '#test/build/rescheduling.ts';

const MI = 1024 ** 2;
const SIZE = { cpu: '10', memory: '20Gi' };
const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: SIZE }));

function container(requests: Readonly<Record<string, string>>) {
  const resources = { requests: amountsOf(requests), limits: undefined };
  return { name: 'more', resources, restartPolicy: undefined, ports: [] };
}

// `pkg/scheduler/util/pod_resources.go`: a container without a request counts as 100m and 200 MiB.
describe('what the scores count of a pod', () => {
  test.each<[string, readonly Readonly<Record<string, string>>[], readonly [number, number]]>([
    ['what it requests', [{ cpu: '250m', memory: '64Mi' }], [250, 64 * MI]],
    [
      'the sum of its containers',
      [
        { cpu: '1', memory: '1Mi' },
        { cpu: '1', memory: '2Mi' },
      ],
      [2_000, 3 * MI],
    ],
    ['a small container where nothing is requested', [{}], [100, 200 * MI]],
    ['small memory where cpu alone is requested', [{ cpu: '1' }], [1_000, 200 * MI]],
    ['small cpu where memory alone is requested', [{ memory: '1Mi' }], [100, MI]],
    ['a small one for each container without requests', [{}, {}], [200, 400 * MI]],
  ])('%s', (_, requests, expected) => {
    const pod = buildPod({ name: 'p', node: 'a', spec: { containers: requests.map(container) } });
    const [placed] = clusterWith({ nodes: NODES, pods: [pod] }).nodes[0]?.entry.occupancy.pods ?? [];
    expect(placed && scoredAmounts(placed)).toEqual(expected);
  });
});

describe('the cluster of a pass', () => {
  test('pods of one list of owners in two namespaces have two owners', () => {
    const first = replica({ name: 'p', node: 'a' });
    const other = { ...replica({ name: 'q', node: 'b', namespace: 'shop' }), owners: first.owners };
    const near = { ...replica({ name: 'n', node: 'a' }), owners: first.owners };
    const second = { ...replica({ name: 'r', node: 'b' }), owners: first.owners };
    const cluster = clusterWith({ nodes: NODES, pods: [first, near, other, second] });
    const names = (pods: readonly PlacedPod[] = []) => pods.map(({ pod }) => pod.name);
    expect(names(cluster.owners.podsIn('default'))).toEqual(['p', 'n', 'r']);
    expect(names(cluster.owners.podsIn('shop'))).toEqual(['q']);
    expect(names(cluster.owners.podsIn('none'))).toEqual([]);
    expect(names(cluster.owners.of(first)?.pods)).toEqual(['p', 'n', 'r']);
    expect(names(cluster.owners.of(other)?.pods)).toEqual(['q']);
    expect(cluster.owners.of(first)).toBe(cluster.owners.of(second));
    expect(cluster.owners.of({ ...first, owners: [] })).toBeUndefined();
  });

  test('pods that wait, or whose node is not known, are none of their owner', () => {
    const there = replica({ name: 'p', node: 'a' });
    const pods = [there, replica({ name: 'q', node: 'gone' }), replica({ name: 'r', nominatedTo: 'a' })];
    const owner = clusterWith({ nodes: NODES, pods }).owners.of(there);
    expect(owner?.pods.map(({ pod }) => pod.name)).toEqual(['p']);
  });

  test('a pod of an owner is on its node', () => {
    const cluster = clusterWith({ nodes: NODES, pods: [replica({ name: 'p', node: 'b' })] });
    expect(nodeOf(cluster, runningIn(cluster, 'p').placed).name).toBe('b');
  });

  test('a pod that terminates is held, and gone later', () => {
    const deletion = { at: NOON, gracePeriodSeconds: 30 };
    const node = nodeIn(clusterWith({ nodes: NODES, pods: [replica({ name: 'p', node: 'a', deletion })] }), 'a');
    expect([node.held.row[0], node.later.row[0]]).toEqual([1_000, 0]);
    expect([node.held.scored[0], node.later.scored[0]]).toEqual([1_000, 0]);
  });

  test('a pod that is nominated to a node is held there', () => {
    const node = nodeIn(clusterWith({ nodes: NODES, pods: [replica({ name: 'p', nominatedTo: 'a' })] }), 'a');
    expect([node.held.row[0], node.later.row[0], node.freeSlots]).toEqual([1_000, 0, 109]);
  });

  test('a node uses what its pods use where that is more, and nothing is known without its own figure', () => {
    const use = { cpu: 3_000, memory: 5 };
    const cluster = clusterWith({
      nodes: NODES,
      pods: ['p', 'q', 'r'].map((name) => replica({ name, node: 'a' })),
      measurements: {
        ofNode: (name) => (name === 'a' ? { cpu: 4_000, memory: 50 } : undefined),
        ofPod: (uid) => (uid === 'uid-r' ? undefined : use),
      },
    });
    expect(nodeIn(cluster, 'a').used).toEqual(Float64Array.of(6_000, 50));
    expect(nodeIn(cluster, 'b').used).toBeUndefined();
  });
});

describe('a move that is planned', () => {
  const ofPod = () => ({ cpu: 500, memory: 10 });

  /** Use of cpu on nodes a and b once a pod has moved from a to b. */
  function usedAfter(measured: string): readonly (number | undefined)[] {
    const ofNode = (name: string) => (measured.includes(name) ? { cpu: 2_000, memory: 100 } : undefined);
    const cluster = clusterWith({
      nodes: NODES,
      pods: [replica({ name: 'p', node: 'a' })],
      measurements: { ofNode, ofPod },
    });
    const [a, b] = [nodeIn(cluster, 'a'), nodeIn(cluster, 'b')];
    applyMove(cluster, runningIn(cluster, 'p').placed, a, b);
    return [a, b].map(({ used }) => used?.[0]);
  }

  test('holds both places until the old pod has terminated', () => {
    const cluster = clusterWith({ nodes: NODES, pods: [replica({ name: 'p', node: 'a' })] });
    const [a, b] = [nodeIn(cluster, 'a'), nodeIn(cluster, 'b')];
    applyMove(cluster, runningIn(cluster, 'p').placed, a, b);
    expect([a, b].map(({ held, later, freeSlots }) => [held.row[0], later.row[0], freeSlots])).toEqual([
      [1_000, 0, 109],
      [1_000, 1_000, 109],
    ]);
  });

  test.each<[string, string, readonly (number | undefined)[]]>([
    ['from one node to the other', 'ab', [1_500, 2_500]],
    ['to a node that nobody measures', 'a', [1_500, undefined]],
    ['from a node that nobody measures', 'b', [undefined, 2_500]],
  ])('takes its use along %s', (_, measured, expected) => {
    expect(usedAfter(measured)).toEqual(expected);
  });
});
