import { describe, expect, test } from 'vitest';
import { loadsOf, overTarget, reachedGain, relaxed, yardstickOf } from '#shared/domain/rescheduling/load.ts';
import type { PastMove } from '#shared/domain/rescheduling/memory.ts';
import type { PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import { buildNode } from '#test/build/cluster.ts';
import {
  A,
  B,
  GPU,
  WITH_GPU,
  clusterWith,
  movesOf,
  nodeIn,
  NOON,
  passOn,
  podsOn,
  runningIn,
  underusedBy,
} from '#test/build/rescheduling.ts';

describe('the load of a node', () => {
  const cluster = clusterWith({
    nodes: [A, WITH_GPU],
    pods: [...podsOn('a', 5), ...podsOn('g', 2, { cpu: '1', memory: '1Gi', [GPU]: '1' })],
    measurements: { ofNode: () => ({ cpu: 7_000, memory: 2 * 1024 ** 3 }), ofPod: () => undefined },
  });
  const loads = (policy: UnderusedPolicy, node: string) => loadsOf(yardstickOf(cluster, policy), nodeIn(cluster, node));

  test.each<[string, UnderusedPolicy, string, readonly number[]]>([
    ['by requests is the share of allocatable', underusedBy({ cpu: 65, memory: 65 }), 'a', [0.5, 0.25]],
    ['counts a device where there are some', underusedBy({ cpu: 65, [GPU]: 50 }), 'g', [0.2, 0.5]],
    ['is 0 of a device that the node does not have', underusedBy({ cpu: 65, [GPU]: 50 }), 'a', [0.5, 0]],
    ['leaves out what no node has', underusedBy({ 'example.com/none': 50, cpu: 65 }), 'a', [0.5]],
    ['by usage is what is measured', underusedBy({ cpu: 65, memory: 65 }, { by: 'Usage' }), 'a', [0.7, 0.1]],
    ['by usage leaves out what nobody measures', underusedBy({ [GPU]: 50, cpu: 65 }, { by: 'Usage' }), 'g', [0.7]],
  ])('%s', (_, policy, node, expected) => {
    expect(loads(policy, node)).toEqual(expected);
  });
});

describe('the gain of a move', () => {
  const LARGE = buildNode({ name: 'large', allocatable: { cpu: '32', memory: '64Gi' } });
  const SMALL = buildNode({ name: 'small', allocatable: { cpu: '8', memory: '16Gi' } });

  // 24 of 32 CPUs against 3 of 8. Unweighted, the squares would rise: the pod is 12.5 % of the small node and 3 % of the large one.
  test('counts nodes by their size, so that a large node gives pods to a small one', () => {
    const pods = [...podsOn('large', 24), ...podsOn('small', 3)];
    const { moves, unevenness } = passOn({ nodes: [LARGE, SMALL], pods, most: 1 });
    expect(movesOf({ moves })).toEqual(['large0 large>small']);
    const fall = ([from, to]: readonly [number, number], share: number) => 1.6 * share * (from ** 2 - to ** 2);
    const cpu = fall([24 / 32, 23 / 32], 1) + fall([3 / 8, 4 / 8], 1 / 4);
    const memory = fall([24 / 64, 23 / 64], 1) + fall([3 / 16, 4 / 16], 1 / 4);
    expect(moves[0]?.gain).toBeCloseTo(100 * (cpu + memory), 9);
    expect(unevenness.before - unevenness.after).toBeCloseTo(moves[0]?.gain ?? 0, 9);
  });
});

describe('a target with one more pod', () => {
  const cluster = clusterWith({ nodes: [A, B, WITH_GPU], pods: [...podsOn('a', 2), ...podsOn('b', 7)] });
  const { placed } = runningIn(cluster, 'a0');

  // 30 % of the 35 points above the target of 65 may be used by what matters more: 75.5 %.
  test.each<[string, number, string, string | undefined]>([
    ['keeps it', 65, 'g', undefined],
    ['breaks it', 75, 'b', 'node b would be at 80.0% of cpu, above its target'],
    ['keeps it to the point', 80, 'b', undefined],
  ])('%s', (_, cpu, node, expected) => {
    const yardstick = yardstickOf(cluster, underusedBy({ cpu, [GPU]: 50 }));
    expect(overTarget(yardstick, nodeIn(cluster, node), placed)?.text).toBe(expected);
  });

  test('is relaxed by three tenths of what is above it', () => {
    const [limit] = relaxed(yardstickOf(cluster, underusedBy({ cpu: 65 }))).limits;
    expect(limit?.target).toBeCloseTo(0.755, 9);
    expect(relaxed(yardstickOf(cluster, underusedBy({ cpu: 120 }))).limits[0]?.target).toBe(1.2);
  });
});

describe('what a move has brought', () => {
  const cluster = clusterWith({ nodes: [A, B], pods: [...podsOn('a', 8), ...podsOn('b', 3)] });
  const { placed } = runningIn(cluster, 'b0');
  const [a, b] = [nodeIn(cluster, 'a'), nodeIn(cluster, 'b')];
  const move: PastMove = {
    uid: 'x',
    policy: 'underused',
    from: 'a',
    expectedOn: 'b',
    at: NOON,
    expected: 12,
    replicas: 9,
    sourceLoad: [0.9],
    replacement: undefined,
  };
  const policy = underusedBy({ cpu: 65 });

  // The squares of 0.9 and 0.2 fell to those of 0.8 and 0.3.
  test.each<[string, readonly number[], UnderusedPolicy, readonly [PassNode | undefined, PassNode], number]>([
    ['is the fall of the squared loads', [0.9], policy, [a, b], 12],
    ['is the same where the source is gone', [0.9], policy, [undefined, b], 12],
    ['is nothing where it came back', [0.9], policy, [b, b], 0],
    [
      'is not judged by a resource that the policy names since',
      [0.9],
      underusedBy({ cpu: 65, memory: 65 }),
      [a, b],
      12,
    ],
    [
      'is nothing by a device that neither has',
      [0.9, 0],
      underusedBy({ cpu: 65, 'ephemeral-storage': 65 }),
      [a, b],
      12,
    ],
  ])('%s', (_, sourceLoad, each, [source, node], expected) => {
    const reached = reachedGain(yardstickOf(cluster, each), { ...move, sourceLoad }, [placed, source, node]);
    expect(reached).toBeCloseTo(expected, 9);
  });
});
