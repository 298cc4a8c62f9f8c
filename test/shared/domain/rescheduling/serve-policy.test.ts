import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { buildNode, mapOf } from '#test/build/cluster.ts';
import { AFFINITY, codeOf, movesOf, passOn, replica, type ReplicaFields, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const nodeNamed = (name: string) => buildNode({ name, allocatable: SIZE });
const [A, B, C] = [nodeNamed('a'), nodeNamed('b'), nodeNamed('c')];

/** Pods of 1 CPU on a node, two of each owner. */
function pods(node: string, count: number, change: Partial<ReplicaFields> = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, n) =>
    replica({ name: `${node}${n}`, node, owner: `${node}-${Math.floor(n / 2)}`, ...change }),
  );
}

describe('how the candidates of a policy are served', () => {
  test('the fullest node gives first, then whichever is fullest by then', () => {
    const result = passOn({ nodes: [A, B, C], pods: [...pods('a', 8), ...pods('b', 9)], most: 3 });
    expect(result.moves.map(({ from }) => from)).toEqual(['b', 'a', 'b']);
  });

  test('of moves that gain as much the one goes first that evens out the load most', () => {
    const large = buildNode({ name: 'l', allocatable: { cpu: '40', memory: '80Gi' }, labels: { disk: 'ssd' } });
    const scheduling = { nodeSelector: mapOf({ disk: 'ssd' }) };
    const wrong = [...pods('a', 2, { scheduling }), ...pods('b', 4, { scheduling })];
    const result = passOn({ nodes: [A, B, large], pods: wrong, policy: AFFINITY });
    expect(movesOf(result)).toEqual(['b0 b>l', 'b2 b>l', 'a0 a>l']);
    expect(new Set(result.moves.map(({ gain }) => gain))).toEqual(new Set([100]));
  });

  test('a pod that two policies name is moved once', () => {
    const large = buildNode({ name: 'l', allocatable: { cpu: '40', memory: '80Gi' }, labels: { disk: 'ssd' } });
    const wrong = pods('a', 9, { scheduling: { nodeSelector: mapOf({ disk: 'ssd' }) } });
    const policy = { ...AFFINITY, underused: UNDERUSED.underused };
    const result = passOn({ nodes: [A, large], pods: wrong, policy, most: 3 });
    expect(movesOf(result)).toEqual(['a0 a>l', 'a2 a>l', 'a4 a>l']);
    expect(result.moves.every(({ policy: kind }) => kind === 'affinity')).toBe(true);
  });

  test('a pod that one policy moved is a related move for the next', () => {
    const large = buildNode({ name: 'l', allocatable: { cpu: '40', memory: '80Gi' }, labels: { disk: 'ssd' } });
    const wrong = replica({
      name: 'wrong',
      node: 'a',
      owner: 'w',
      scheduling: { nodeSelector: mapOf({ disk: 'ssd' }) },
    });
    const spare = replica({ name: 'spare', node: 'l', owner: 'w' });
    const policy = { ...AFFINITY, underused: UNDERUSED.underused };
    const result = passOn({ nodes: [A, large], pods: [wrong, spare, ...pods('a', 8)], policy });
    expect(movesOf(result)[0]).toBe('wrong a>l');
    expect(movesOf(result).filter((move) => move.startsWith('wrong'))).toHaveLength(1);
    expect(codeOf(result, 'wrong')).toBe('RelatedMove');
  });

  test('by usage the second pod of an owner waits for the next pass', () => {
    const policy = { ...UNDERUSED, underused: { ...UNDERUSED.underused, by: 'Usage' } as never };
    const measurements = {
      ofNode: (name: string) => ({ cpu: name === 'a' ? 9_000 : 0, memory: 1 }),
      ofPod: () => ({ cpu: 1_000, memory: 1 }),
    };
    const memory = { ...NO_MEMORY, hotReadings: new Map([['a', 3]]), lowReadings: 3 };
    const one = pods('a', 9, { owner: 'one' });
    const result = passOn({ nodes: [A, B], pods: one, policy, measurements, memory });
    expect(movesOf(result)).toEqual(['a0 a>b']);
    expect(codeOf(result, 'a1')).toBe('RelatedMove');
  });
});

describe('what a pass says of the pods that stay', () => {
  test('a pass without moves tells it of each pod that would help', () => {
    const idle = replica({ name: 'idle', node: 'a', owner: 'idle', requests: {} });
    const result = passOn({ nodes: [A, B], pods: [...pods('a', 9), idle], most: 0 });
    expect(result.stays).toHaveLength(9);
    expect(codeOf(result, 'a0')).toBe('PassLimit');
    expect(codeOf(result, 'idle')).toBeUndefined();
  });

  test('a node that is back at its target has nothing left to tell', () => {
    const result = passOn({ nodes: [A, B, C], pods: [...pods('a', 7), ...pods('b', 8)], most: 3 });
    expect(result.moves.map(({ from }) => from)).toEqual(['b', 'a', 'b']);
    expect(result.stays.filter(({ because }) => because.code === 'PassLimit')).toEqual([]);
  });

  test('no more than 2,000 reasons are kept', () => {
    const crowded = ['a', 'b'].map((name) =>
      buildNode({ name, allocatable: { cpu: '25', memory: '20Gi', pods: '3000' } }),
    );
    const many = (node: string, count: number) => pods(node, count, { requests: { cpu: '10m', memory: '1Mi' } });
    const nodes = [...crowded, C];
    const each = [...many('a', 2_100), ...many('b', 2_100)];
    const result = passOn({ nodes, pods: each, most: 0 });
    expect(result.stays).toHaveLength(2_000);
    expect(result.stays.every(({ node }) => node === 'a')).toBe(true);
    const alone = each.map((pod) => ({
      ...pod,
      owners: pod.owners.map((owner) => ({ ...owner, uid: pod.uid, name: pod.name })),
    }));
    const last = passOn({ nodes, pods: alone });
    expect(last.stays).toHaveLength(2_000);
    expect(last.stays.every(({ because }) => because.code === 'LastReadyReplica')).toBe(true);
  });

  test('a pass looks at 150,000 nodes at most and names the pods that it did not examine', () => {
    const closed = Array.from({ length: 2_998 }, (_, n) => buildNode({ name: `n${n}`, isUnschedulable: true }));
    const nowhere = { nodeSelector: mapOf({ disk: 'none' }) };
    const result = passOn({
      nodes: [buildNode({ name: 'a', allocatable: { cpu: '10', memory: '20Gi' } }), B, ...closed],
      pods: pods('a', 90, { requests: { cpu: '100m', memory: '1Mi' }, scheduling: nowhere }),
    });
    const codes = Map.groupBy(result.stays, ({ because }) => because.code);
    expect([...codes].map(([code, stays]) => [code, stays.length])).toEqual([
      ['FitsNowhere', 50],
      ['NotExamined', 40],
    ]);
  });
});
