import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { createGuesser } from '#shared/domain/rescheduling/guess-placement.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { buildNode, buildTerm, mapOf } from '#test/build/cluster.ts';
import { clusterWith, replica, type ReplicaFields, runningIn } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };

function big(name: string, node: string, change: Partial<ReplicaFields> = {}): Pod {
  return replica({ name, node, requests: { cpu: '6', memory: '1Gi' }, ...change });
}

/** Where the replacement of pod `moved` would be, or why nowhere. */
function guess(
  nodes: readonly Node[],
  pods: readonly Pod[],
  avoided: readonly string[] = [],
): readonly string[] | string {
  const cluster = clusterWith({ nodes, pods });
  const guesser = finish(createGuesser(cluster, []));
  const found = finish(guesser.guess(runningIn(cluster, 'moved'), new Set(avoided)));
  return found.kind === 'placed' ? found.nodes.map(({ name }) => name) : found.because.text;
}

const nodeNamed = (name: string): Node => buildNode({ name, allocatable: SIZE });
const [A, B, C] = [nodeNamed('a'), nodeNamed('b'), nodeNamed('c')];

describe('where the replacement of a pod fits', () => {
  test('a Deployment replaces a pod while it terminates, so its place is still taken', () => {
    expect(guess([A], [big('moved', 'a')])).toBe(
      'no other node fits: 0/1 nodes are available: 1 Insufficient resources.',
    );
  });

  test('a StatefulSet replaces a pod once it is gone, so its place is free', () => {
    expect(guess([A], [big('moved', 'a', { ownerKind: 'StatefulSet' })])).toEqual(['a']);
  });

  test('the replacement of a StatefulSet still minds the other pods', () => {
    const pods = [big('moved', 'a', { ownerKind: 'StatefulSet' }), big('other', 'b', { owner: 'db' })];
    expect(guess([A, B], pods)).toEqual(['a']);
  });

  test('a node without a free slot takes no pod', () => {
    const full = buildNode({ name: 'b', allocatable: { ...SIZE, pods: '1' } });
    expect(guess([full, C], [replica({ name: 'moved', node: 'b' })])).toEqual(['c']);
  });

  test('the slot of a pod of a StatefulSet is free again', () => {
    const full = buildNode({ name: 'b', allocatable: { ...SIZE, pods: '1' } });
    expect(guess([full], [replica({ name: 'moved', node: 'b', ownerKind: 'StatefulSet' })])).toEqual(['b']);
  });

  test('a node has no room for a resource that only other nodes have', () => {
    const withGpu = buildNode({ name: 'gpu', allocatable: { ...SIZE, 'example.com/gpu': '2' } });
    const requests = { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' };
    expect(guess([withGpu, B], [replica({ name: 'moved', node: 'gpu', requests })])).toEqual(['gpu']);
  });

  test('the reasons of all nodes are counted', () => {
    const scheduling = { nodeSelector: mapOf({ disk: 'ssd' }), podAntiAffinity: [buildTerm({ app: 'db' })] };
    const ssd = ['b', 'c', 'd'].map((name) => buildNode({ name, allocatable: SIZE, labels: { disk: 'ssd' } }));
    const pods = [
      big('moved', 'b', { scheduling }),
      big('large', 'c', { owner: 'large' }),
      replica({ name: 'db', node: 'd', owner: 'db' }),
    ];
    expect(guess([A, ...ssd], pods)).toBe(
      "no other node fits: 0/4 nodes are available: 1 node(s) didn't match its rules, 1 node(s) didn't match pod anti-affinity rules, 2 Insufficient resources.",
    );
  });
});

describe('which of the nodes is chosen', () => {
  test('an avoided node is the last choice', () => {
    expect(guess([A, B], [replica({ name: 'moved', node: 'a' }), big('other', 'b', { owner: 'db' })])).toEqual(['a']);
    expect(guess([A, B], [replica({ name: 'moved', node: 'a' }), big('other', 'b', { owner: 'db' })], ['a'])).toEqual([
      'b',
    ]);
  });

  /** Nodes of which each is one percent fuller than the one before, up to a half; the pod runs on the last. */
  function stairs(count: number): readonly [readonly Node[], readonly Pod[]] {
    const nodes = Array.from({ length: count }, (_, n) =>
      buildNode({ name: `n${n}`, allocatable: { cpu: '1000', memory: '1000Gi' } }),
    );
    const fill = nodes.map(({ name }, n) =>
      replica({
        name: `f${n}`,
        node: name,
        owner: `f${n}`,
        requests: { cpu: `${Math.min(n, 50) * 10}`, memory: `${Math.min(n, 50) * 10}Gi` },
      }),
    );
    return [nodes, [...fill, replica({ name: 'moved', node: `n${count - 1}` })]];
  }

  // `pkg/scheduler/schedule_one.go` numFeasibleNodesToFind.
  test.each([
    ['all of 100 nodes are scored, so the best one is chosen', 100, ['n0']],
    ['of 300 nodes 48 % are scored, so one of the best five is chosen', 300, ['n0', 'n1', 'n2', 'n3', 'n4']],
  ])('%s', (_, count, expected) => {
    const [nodes, pods] = stairs(count);
    expect(guess(nodes, pods)).toEqual(expected);
  });

  test('of 120 nodes 100 are scored, so the best one is chosen if no more fit', () => {
    const [nodes, pods] = stairs(120);
    const cordoned = nodes.map((node, n) => ({ ...node, isUnschedulable: n >= 100 }));
    const moved = pods.map((pod) => (pod.name === 'moved' ? replica({ name: 'moved', node: 'n99' }) : pod));
    expect(guess(cordoned, moved)).toEqual(['n0']);
  });
});
