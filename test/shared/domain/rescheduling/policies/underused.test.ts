import { describe, expect, test } from 'vitest';
import { NO_MEMORY, type PastMove, type ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import { countReadings } from '#shared/domain/rescheduling/policies/underused.ts';
import { overTargetStatus } from '#shared/domain/rescheduling/status.ts';
import type { UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import { buildNode } from '#test/build/cluster.ts';
import {
  A,
  B,
  GPU,
  SIZE,
  WITH_GPU,
  clusterWith,
  codeOf,
  movesOf,
  NOON,
  passOn,
  podsOn,
  replica,
  UNDERUSED,
  underusedBy,
} from '#test/build/rescheduling.ts';

describe('a node that is above its target', () => {
  const policyOf = (each: UnderusedPolicy) => ({ ...UNDERUSED, underused: each });

  test('gives pods to a node below the target where nothing says what is low', () => {
    const given = { nodes: [A, B], pods: [...podsOn('a', 8), ...podsOn('b', 3)] };
    expect(movesOf(passOn({ ...given, policy: policyOf(underusedBy({ cpu: 65 })) }))).not.toEqual([]);
    expect(movesOf(passOn({ ...given, policy: policyOf(underusedBy({ cpu: 65 }, { low: { cpu: 30 } })) }))).toEqual([]);
  });

  describe('while no node is low', () => {
    const low = { cpu: 45, memory: 45 };
    const given = { nodes: [A, B], pods: [...podsOn('a', 8), ...podsOn('b', 5)] };
    const moved = (minutesAgo: number, policy: PastMove['policy'] = 'underused'): ReschedulingMemory => {
      const at = NOON - minutesAgo * 60_000;
      const past = { uid: 'x', policy, from: 'b', expectedOn: 'a', at, expected: 1, sourceLoad: [], replicas: 0 };
      return {
        ...NO_MEMORY,
        owners: new Map([['moved', { moves: [{ ...past, replacement: undefined }], stop: undefined }]]),
      };
    };
    const movesAfter = (memory: ReschedulingMemory) =>
      movesOf(passOn({ ...given, memory, policy: policyOf(underusedBy({ cpu: 65, memory: 65 }, { low })) }));

    test('goes on to give pods away for an hour after a move that evened out the load', () => {
      expect(movesAfter(moved(59))).toEqual(['a0 a>b']);
    });

    test.each<[string, ReschedulingMemory]>([
      ['before the first move', NO_MEMORY],
      ['an hour after the last one', moved(60)],
      ['after moves for rules', moved(59, 'affinity')],
    ])('gives nothing away %s', (_, memory) => {
      expect(movesAfter(memory)).toEqual([]);
    });
  });

  test('gives nothing away where the policy names only what no node has', () => {
    const policy = policyOf(underusedBy({ 'example.com/none': 10 }));
    expect(movesOf(passOn({ nodes: [A, B], pods: podsOn('a', 9), policy }))).toEqual([]);
  });

  test('of a device gives away the pods that use it', () => {
    const other = buildNode({ name: 'h', allocatable: { ...SIZE, [GPU]: '4' } });
    const users = podsOn('g', 4, { cpu: '1', memory: '1Gi', [GPU]: '1' });
    const result = passOn({
      nodes: [A, WITH_GPU, other],
      pods: [...users, ...[0, 1].map((n) => replica({ name: `plain${n}`, node: 'g', owner: 'plain' }))],
      policy: policyOf(underusedBy({ [GPU]: 50 })),
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
    const policy = policyOf(underusedBy({ cpu: 65, [GPU]: 50 }));
    const result = passOn({ nodes: [A, WITH_GPU], pods: podsOn(from, 8), policy, most: 1 });
    expect(movesOf(result)).toEqual([`${from}0 ${from}>${to}`]);
  });

  test.each<[string, Readonly<Record<string, number>>]>([
    ['alone', { [GPU]: 50 }],
    ['beside others', { cpu: 65, [GPU]: 50 }],
  ])('of a device keeps its pods where only a node without the device is low, %s', (_, target) => {
    const other = buildNode({ name: 'h', allocatable: { ...SIZE, [GPU]: '4' } });
    const users = (node: string, count: number) => podsOn(node, count, { cpu: '1', memory: '1Gi', [GPU]: '1' });
    const policy = policyOf(underusedBy(target, { low: { cpu: 45, [GPU]: 45 } }));
    const result = passOn({ nodes: [A, WITH_GPU, other], pods: [...users('g', 4), ...users('h', 2)], policy });
    expect(movesOf(result)).toEqual([]);
  });

  test('is urgent by how far it is above', () => {
    const nodes = [A, B, buildNode({ name: 'c', allocatable: SIZE })];
    const result = passOn({ nodes, pods: [...podsOn('a', 7), ...podsOn('b', 9)], most: 1 });
    expect(movesOf(result)).toEqual(['b0 b>c']);
  });

  test('is told with the resource that is furthest above', () => {
    const policy = policyOf(underusedBy({ cpu: 60, memory: 20 }));
    const result = passOn({ nodes: [A, B], pods: podsOn('a', 8), policy, most: 1 });
    expect(result.moves[0]?.because.text).toContain('of cpu by requests, above its target of 60%');
  });
});

describe('by usage', () => {
  const by = { by: 'Usage', low: { cpu: 45 } } as const;
  const policy = { ...UNDERUSED, underused: underusedBy({ cpu: 65, memory: 65 }, by) };
  const read = (hot: number, low = 3) => ({ ...NO_MEMORY, hotReadings: new Map([['a', hot]]), lowReadings: low });
  const memory = read(3);
  const nodeUse = (names: string) => (name: string) =>
    names.includes(name) ? { cpu: name === 'a' ? 9_000 : 0, memory: 1 } : undefined;

  test('only a pod whose use is measured promises relief', () => {
    const ofPod = (uid: string) => (uid === 'uid-a3' ? { cpu: 1_000, memory: 1 } : undefined);
    const result = passOn({
      nodes: [A, B],
      pods: podsOn('a', 6),
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
    const result = passOn({ nodes, pods: [...podsOn('a', 6), busy], policy, memory, measurements });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'a0')).toBe('LittleGain');
  });

  test.each([
    [3, 6_700, 1],
    [2, 6_700, 0],
    [8, 6_600, 1],
    [7, 6_600, 0],
  ])('%i readings above the target of 65%%, now %i of 10000, make %i moves', (readings, cpu, count) => {
    const ofNode = (name: string) => ({ cpu: name === 'a' ? cpu : 0, memory: 1 });
    const measurements = { ofNode, ofPod: () => ({ cpu: 1_000, memory: 1 }) };
    const before = read(readings - 1);
    const { moves } = passOn({ nodes: [A, B], pods: podsOn('a', 6), policy, memory: before, measurements, most: 1 });
    expect(moves).toHaveLength(count);
  });

  // On a node at 70% the pod of 10% gains 2 points per 10% that the other node is below 60%.
  test.each([
    ['a little', 'before', 9, 5_700, 1],
    ['a little', 'after', 10, 5_700, 0],
    ['a lot', 'after', 10, 5_100, 1],
  ])(
    'what gains %s moves off a node or not, %s its eleventh reading above the target',
    (_, __, readings, other, count) => {
      // It uses little, and its requests leave no room.
      const C = buildNode({ name: 'c', allocatable: SIZE });
      const ofNode = (name: string) => ({ cpu: { a: 7_000, b: other, c: 0 }[name] ?? 0, memory: 1 });
      const ofPod = (uid: string) => (uid.startsWith('uid-a') ? { cpu: 1_000, memory: 1 } : undefined);
      const measurements = { ofNode, ofPod };
      const full = podsOn('c', 10, { cpu: '1', memory: '2Gi' });
      const given = { nodes: [A, B, C], pods: [...podsOn('a', 6), ...full], policy, measurements, most: 1 };
      expect(passOn({ ...given, memory: read(readings) }).moves).toHaveLength(count);
    },
  );

  test('pods go nowhere before some node was low in three readings, and the pass says so', () => {
    const ofNode = (name: string) => ({ cpu: name === 'a' ? 9_000 : 0, memory: 1 });
    const measurements = { ofNode, ofPod: () => ({ cpu: 1_000, memory: 1 }) };
    const given = { nodes: [A, B], pods: podsOn('a', 6), policy, measurements, most: 1 };
    expect(passOn({ ...given, memory: read(8, 2) }).moves).toHaveLength(1);
    const early = passOn({ ...given, memory: read(8, 1) });
    expect(early.moves).toEqual([]);
    expect(early.overTarget[0]?.held?.text).toBe('some node was low in 2 readings in succession; 3 are needed');
  });

  test('readings begin anew after one that says otherwise, and count as far as they matter', () => {
    const count = (before: ReturnType<typeof read>, use: Readonly<Record<string, number | undefined>>) => {
      const ofNode = (name: string) => {
        const cpu = use[name];
        return cpu === undefined ? undefined : { cpu, memory: 1 };
      };
      const cluster = clusterWith({ nodes: [A, B], measurements: { ofNode, ofPod: () => undefined } });
      const { hotReadings, lowReadings } = countReadings(before, cluster, policy.underused);
      return [hotReadings.get('a'), lowReadings];
    };
    expect(count(read(0, 0), { a: 7_000, b: 0 })).toEqual([1, 1]);
    expect(count(read(3, 2), { a: 7_000, b: 0 })).toEqual([4, 3]);
    expect(count(read(11), { a: 7_000, b: 0 })).toEqual([11, 3]);
    expect(count(read(2), { a: 6_000, b: 5_000 })).toEqual([undefined, 0]);
    expect(count(read(2), {})).toEqual([undefined, 0]);
  });
});

describe('a node below its target that moves for rules have filled', () => {
  const past = { uid: 'x', policy: 'affinity', from: 'b', expectedOn: 'a', at: NOON - 600_000, expected: 100 } as const;
  const arrived = { ...past, sourceLoad: [], replicas: 2, replacement: { uid: 'y', node: 'a', reached: 100 } };
  const memory = memoryOf(arrived);
  const policyOf = (change: Parameters<typeof underusedBy>[1]) => ({
    ...UNDERUSED,
    underused: underusedBy({ cpu: 65, memory: 65 }, change),
  });
  const given = { nodes: [A, B], pods: podsOn('a', 6), memory };
  const low = { cpu: 45, memory: 45 };

  test('gives pods away down to the mean load, and says so', () => {
    const result = passOn(given);
    expect(movesOf(result)).toEqual(['a0 a>b', 'a2 a>b', 'a4 a>b']);
    const text = 'moves for rules and preferences filled node a to 60.0% of cpu by requests; the mean is 30%';
    expect(result.moves[0]?.because).toMatchObject({ code: 'NodeFilledByMoves', text });
    expect(result.stays).toEqual([]);
  });

  // The first move gains 12.5 points, the second 7.5.
  test.each([
    [10, 1],
    [11, 0],
  ])('needs two points more than the least gain: of %i points for %i moves', (gain, count) => {
    expect(passOn({ ...given, policy: policyOf({ low, gain }) }).moves).toHaveLength(count);
  });

  test.each([
    ['without such a move', { memory: NO_MEMORY }],
    ['after a move for an even load', { memory: memoryOf({ ...arrived, policy: 'underused' }) }],
    ['while its replacement is not placed', { memory: memoryOf({ ...arrived, replacement: undefined, replicas: 0 }) }],
    ['by usage', { policy: policyOf({ low, by: 'Usage' }) }],
    ['while no node is low', { pods: [...podsOn('a', 6), ...podsOn('b', 5)] }],
  ])('stays as it is %s', (_, change) => {
    const measurements = { ofNode: () => ({ cpu: 4_000, memory: 1 }), ofPod: () => ({ cpu: 500, memory: 1 }) };
    expect(movesOf(passOn({ ...given, measurements, ...change }))).toEqual([]);
  });

  test('waits for nodes that are above their target', () => {
    const full = buildNode({ name: 'c', allocatable: SIZE });
    const pods = [...podsOn('a', 6), ...podsOn('c', 7)];
    expect(passOn({ ...given, nodes: [A, B, full], pods, most: 1 }).moves[0]?.from).toBe('c');
  });

  function memoryOf(move: PastMove): ReschedulingMemory {
    return { ...NO_MEMORY, owners: new Map([['moved', { moves: [move], stop: undefined }]]) };
  }
});

describe('the nodes that a pass leaves above their target', () => {
  const C = buildNode({ name: 'c', allocatable: SIZE });
  const left = (given: Parameters<typeof passOn>[0]) =>
    overTargetStatus(passOn(given)).map(({ node, obstacle }) => `${node}: ${obstacle}`);

  test('are named, the fullest first, with the reasons of their pods', () => {
    const single = (node: string, count: number) =>
      Array.from({ length: count }, (_, n) => replica({ name: `${node}${n}`, node, owner: `${node}${n}` }));
    const three = [0, 1, 2].map((n) => replica({ name: `three${n}`, node: 'a', owner: 'three' }));
    const given = { nodes: [A, B, C], pods: [...single('b', 7), ...single('a', 6), ...three] };
    expect(left(given)).toEqual(['a: 6 LastReadyReplica, 2 OwnerWindow', 'b: 7 LastReadyReplica']);
    expect(passOn(given).overTarget[0]?.because.text).toContain('node a is at 80.0% of cpu');
  });

  test('are none where all of them get below it, or where no policy has a target', () => {
    expect(left({ nodes: [A, B], pods: podsOn('a', 8) })).toEqual([]);
    expect(left({ nodes: [A, B], pods: podsOn('a', 9), policy: { ...UNDERUSED, underused: undefined } })).toEqual([]);
  });

  test('are held by nodes none of which is low', () => {
    const given = { nodes: [A, B], pods: [...podsOn('a', 9), ...podsOn('b', 5)] };
    expect(left(given)).toEqual(['a: no node is low in every resource']);
  });

  test('by usage are held by the readings that are missing', () => {
    const policy = { ...UNDERUSED, underused: underusedBy({ cpu: 65 }, { by: 'Usage' }) };
    const ofNode = (name: string) => ({ cpu: name === 'a' ? 9_000 : 0, memory: 1 });
    const given = { nodes: [A, B], pods: podsOn('a', 4), policy, measurements: { ofNode, ofPod: () => undefined } };
    expect(left(given)).toEqual(['a: it was above its target in 1 readings in succession; 3 are needed']);
  });
});
