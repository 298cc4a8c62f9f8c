import { describe, expect, test } from 'vitest';
import type { PastMove } from '#shared/domain/rescheduling/memory.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import {
  countHotReadings,
  loadsOf,
  overTarget,
  reachedGain,
  relaxed,
  yardstickOf,
} from '#shared/domain/rescheduling/policies/underused.ts';
import type { PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import { buildNode } from '#test/build/cluster.ts';
import {
  clusterWith,
  codeOf,
  movesOf,
  nodeIn,
  NOON,
  passOn,
  replica,
  runningIn,
  UNDERUSED,
} from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const GPU = 'example.com/gpu';
const A = buildNode({ name: 'a', allocatable: SIZE });
const B = buildNode({ name: 'b', allocatable: SIZE });
const WITH_GPU = buildNode({ name: 'g', allocatable: { ...SIZE, [GPU]: '4' } });

type Percent = Readonly<Record<string, number>>;

function underused(
  target: Percent,
  change: Partial<Omit<UnderusedPolicy, 'low'> & { readonly low: Percent }> = {},
): UnderusedPolicy {
  const { low = {}, by = 'Requests', gain } = change;
  return { by, low: new Map(Object.entries(low)), target: new Map(Object.entries(target)), gain };
}

/** Pods of 1 CPU and 1 GiB by the node that they run on, two of each owner. */
function pods(node: string, count: number, requests: Readonly<Record<string, string>> = { cpu: '1', memory: '1Gi' }) {
  return Array.from({ length: count }, (_, n) =>
    replica({ name: `${node}${n}`, node, owner: `${node}-${Math.floor(n / 2)}`, requests }),
  );
}

describe('the load of a node', () => {
  const cluster = clusterWith({
    nodes: [A, WITH_GPU],
    pods: [...pods('a', 5), ...pods('g', 2, { cpu: '1', memory: '1Gi', [GPU]: '1' })],
    measurements: { ofNode: () => ({ cpu: 7_000, memory: 2 * 1024 ** 3 }), ofPod: () => undefined },
  });
  const loads = (policy: UnderusedPolicy, node: string) => loadsOf(yardstickOf(cluster, policy), nodeIn(cluster, node));

  test.each<[string, UnderusedPolicy, string, readonly number[]]>([
    ['by requests is the share of allocatable', underused({ cpu: 65, memory: 65 }), 'a', [0.5, 0.25]],
    ['counts a device where there are some', underused({ cpu: 65, [GPU]: 50 }), 'g', [0.2, 0.5]],
    ['is 0 of a device that the node does not have', underused({ cpu: 65, [GPU]: 50 }), 'a', [0.5, 0]],
    ['leaves out what no node has', underused({ 'example.com/none': 50, cpu: 65 }), 'a', [0.5]],
    ['by usage is what is measured', underused({ cpu: 65, memory: 65 }, { by: 'Usage' }), 'a', [0.7, 0.1]],
    ['by usage leaves out what nobody measures', underused({ [GPU]: 50, cpu: 65 }, { by: 'Usage' }), 'g', [0.7]],
  ])('%s', (_, policy, node, expected) => {
    expect(loads(policy, node)).toEqual(expected);
  });
});

describe('a node that is above its target', () => {
  const policyOf = (each: UnderusedPolicy) => ({ ...UNDERUSED, underused: each });

  test('gives pods to a node below the target where nothing says what is low', () => {
    const given = { nodes: [A, B], pods: [...pods('a', 8), ...pods('b', 3)] };
    expect(movesOf(passOn({ ...given, policy: policyOf(underused({ cpu: 65 })) }))).not.toEqual([]);
    expect(movesOf(passOn({ ...given, policy: policyOf(underused({ cpu: 65 }, { low: { cpu: 30 } })) }))).toEqual([]);
  });

  test('gives nothing away where the policy names only what no node has', () => {
    const policy = policyOf(underused({ 'example.com/none': 10 }));
    expect(movesOf(passOn({ nodes: [A, B], pods: pods('a', 9), policy }))).toEqual([]);
  });

  test('of a device gives away the pods that use it', () => {
    const other = buildNode({ name: 'h', allocatable: { ...SIZE, [GPU]: '4' } });
    const users = pods('g', 4, { cpu: '1', memory: '1Gi', [GPU]: '1' });
    const result = passOn({
      nodes: [A, WITH_GPU, other],
      pods: [...users, ...[0, 1].map((n) => replica({ name: `plain${n}`, node: 'g', owner: 'plain' }))],
      policy: policyOf(underused({ [GPU]: 50 })),
      rules: { protectedNamespaces: new Set(), optOutCeiling: 0, wantsToStay: () => false, fitElsewhere: false },
    });
    expect(movesOf(result)).toEqual(['g0 g>h', 'g2 g>h']);
    expect(result.moves[0]?.because.text).toBe(`node g is at 100.0% of ${GPU} by requests, above its target of 50%`);
    // The squares of 4/4 and 0/4 fall to those of 3/4 and 1/4.
    expect(result.moves[0]?.gain).toBeCloseTo(100 * (1 - 9 / 16 - 1 / 16), 9);
  });

  test.each([
    ['to', 'g', 'a'],
    ['from', 'a', 'g'],
  ])('of cpu gives a pod %s a node that lacks a device of the policy', (_, from, to) => {
    const policy = policyOf(underused({ cpu: 65, [GPU]: 50 }));
    const result = passOn({ nodes: [A, WITH_GPU], pods: pods(from, 8), policy, most: 1 });
    expect(movesOf(result)).toEqual([`${from}0 ${from}>${to}`]);
  });

  test('is urgent by how far it is above', () => {
    const nodes = [A, B, buildNode({ name: 'c', allocatable: SIZE })];
    const result = passOn({ nodes, pods: [...pods('a', 7), ...pods('b', 9)], most: 1 });
    expect(movesOf(result)).toEqual(['b0 b>c']);
  });

  test('is told with the resource that is furthest above', () => {
    const policy = policyOf(underused({ cpu: 60, memory: 20 }));
    const result = passOn({ nodes: [A, B], pods: pods('a', 8), policy, most: 1 });
    expect(result.moves[0]?.because.text).toContain('of cpu by requests, above its target of 60%');
  });
});

describe('by usage', () => {
  const by = { by: 'Usage', low: { cpu: 45 } } as const;
  const policy = { ...UNDERUSED, underused: underused({ cpu: 65, memory: 65 }, by) };
  const memory = { ...NO_MEMORY, hotReadings: new Map([['a', 3]]) };
  const nodeUse = (names: string) => (name: string) =>
    names.includes(name) ? { cpu: name === 'a' ? 9_000 : 0, memory: 1 } : undefined;

  test('only a pod whose use is measured promises relief', () => {
    const ofPod = (uid: string) => (uid === 'uid-a3' ? { cpu: 1_000, memory: 1 } : undefined);
    const result = passOn({
      nodes: [A, B],
      pods: pods('a', 6),
      policy,
      memory,
      measurements: { ofNode: nodeUse('ab'), ofPod },
    });
    expect(movesOf(result)).toEqual(['a3 a>b']);
  });

  test('a target that nobody measures promises no gain', () => {
    const nodes = [A, buildNode({ name: 'b', allocatable: SIZE }), buildNode({ name: 'c', allocatable: SIZE })];
    const busy = replica({ name: 'busy', node: 'b', owner: 'busy' });
    const measurements = { ofNode: nodeUse('ab'), ofPod: () => ({ cpu: 1_000, memory: 1 }) };
    const result = passOn({ nodes, pods: [...pods('a', 6), busy], policy, memory, measurements });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'a0')).toBe('LittleGain');
  });

  test('readings above the target count up to three and begin anew after one below', () => {
    const count = (before: number | undefined, cpu: number | undefined) => {
      const ofNode = () => (cpu === undefined ? undefined : { cpu, memory: 1 });
      const cluster = clusterWith({ nodes: [A], measurements: { ofNode, ofPod: () => undefined } });
      return countHotReadings(new Map(before === undefined ? [] : [['a', before]]), cluster, policy.underused).get('a');
    };
    expect([count(undefined, 7_000), count(1, 7_000), count(3, 7_000)]).toEqual([1, 2, 3]);
    expect([count(2, 6_000), count(2, undefined)]).toEqual([undefined, undefined]);
  });
});

describe('a target with one more pod', () => {
  const cluster = clusterWith({ nodes: [A, B, WITH_GPU], pods: [...pods('a', 2), ...pods('b', 7)] });
  const { placed } = runningIn(cluster, 'a0');

  // 30 % of the 35 points above the target of 65 may be used by what matters more: 75.5 %.
  test.each<[string, number, string, string | undefined]>([
    ['keeps it', 65, 'g', undefined],
    ['breaks it', 75, 'b', 'node b would be at 80.0% of cpu, above its target'],
    ['keeps it to the point', 80, 'b', undefined],
  ])('%s', (_, cpu, node, expected) => {
    const yardstick = yardstickOf(cluster, underused({ cpu, [GPU]: 50 }));
    expect(overTarget(yardstick, nodeIn(cluster, node), placed)?.text).toBe(expected);
  });

  test('is relaxed by three tenths of what is above it', () => {
    const [limit] = relaxed(yardstickOf(cluster, underused({ cpu: 65 }))).limits;
    expect(limit?.target).toBeCloseTo(0.755, 9);
    expect(relaxed(yardstickOf(cluster, underused({ cpu: 120 }))).limits[0]?.target).toBe(1.2);
  });
});

describe('what a move has brought', () => {
  const cluster = clusterWith({ nodes: [A, B], pods: [...pods('a', 8), ...pods('b', 3)] });
  const { placed } = runningIn(cluster, 'b0');
  const [a, b] = [nodeIn(cluster, 'a'), nodeIn(cluster, 'b')];
  const move: PastMove = {
    ...{ uid: 'x', policy: 'underused', from: 'a', expectedOn: 'b', at: NOON, expected: 12, replicas: 9 },
    ...{ sourceLoad: [0.9], replacement: undefined },
  };
  const policy = underused({ cpu: 65 });

  // The squares of 0.9 and 0.2 fell to those of 0.8 and 0.3.
  test.each<[string, readonly number[], UnderusedPolicy, readonly [PassNode | undefined, PassNode], number]>([
    ['is the fall of the squared loads', [0.9], policy, [a, b], 12],
    ['is the same where the source is gone', [0.9], policy, [undefined, b], 12],
    ['is nothing where it came back', [0.9], policy, [b, b], 0],
    ['is not judged by a resource that the policy names since', [0.9], underused({ cpu: 65, memory: 65 }), [a, b], 12],
    ['is nothing by a device that neither has', [0.9, 0], underused({ cpu: 65, 'ephemeral-storage': 65 }), [a, b], 12],
  ])('%s', (_, sourceLoad, each, [source, node], expected) => {
    const reached = reachedGain(yardstickOf(cluster, each), { ...move, sourceLoad }, [placed, source, node]);
    expect(reached).toBeCloseTo(expected, 9);
  });
});
