import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { endOveruse, overusedQueues } from '#shared/domain/queue/overuse.ts';
import type { RoomState } from '#shared/domain/queue/make-room.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { createShares } from '#shared/domain/queue/shares.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpu, ownUsage, queue, running, seed } from './builders.ts';
import { room, stateOf } from './rooms.ts';

interface SeedOveruse {
  readonly given: {
    readonly queues: readonly {
      readonly name: string;
      readonly allocated: { readonly cpu: number };
      readonly pods: readonly { readonly name: string; readonly cpu: number }[];
    }[];
  };
  readonly then: {
    readonly victims: Readonly<Record<string, { readonly count: number; readonly oneOf?: readonly string[] }>>;
  };
}

function ended(state: RoomState) {
  return finish(endOveruse(state, overusedQueues(state.tree, sumUsage(state.tree, state.own))));
}

/** The names of the victims by queue, on one node. */
function victims(queues: readonly Queue[], pods: readonly RunningPod[], change: Partial<RoomState> = {}) {
  const found = ended({ ...stateOf(queues, [room('n', cpu(100), pods)]), ...change });
  return Object.fromEntries(found.map((each) => [each.queue, each.victims.map(({ pod }) => pod.name)]));
}

describe('a queue that uses more than its maximum', () => {
  test('the example: one 2-CPU pod of the first queue goes, and none of the second (S4-10)', () => {
    const { given, then } = seed('s4-10') as SeedOveruse;
    const queues = given.queues.map(({ name, allocated }) => queue(name, undefined, { max: cpu(allocated.cpu) }));
    const pods = given.queues.flatMap((each) =>
      each.pods.map((pod) => running(`${each.name}/${pod.name}`, each.name, { requests: cpu(pod.cpu) })),
    );
    const found = victims(queues, pods);
    for (const [name, { count, oneOf }] of Object.entries(then.victims)) {
      expect(found[name] ?? []).toHaveLength(count);
      if (oneOf !== undefined) expect(oneOf).toContain(found[name]?.[0]?.split('/')[1]);
    }
  });

  const limited = [queue('a', undefined, { max: cpu(2) }), queue('b')];
  const three = (change: Partial<RunningPod>) => [
    running('x', 'a', change),
    running('y', 'a', { startedAt: 1 }),
    running('z', 'a', { startedAt: 2 }),
    running('other', 'b', { priority: -5 }),
  ];

  test.each<[string, Partial<RunningPod>, string]>([
    ['of the lowest priority', { priority: -1 }, 'x'],
    ['that runs for the shortest time', {}, 'z'],
    ['that did not ask to be spared', { mayBePreempted: false, priority: -1 }, 'z'],
    ['whose DaemonSet does not create it again', { isDaemonSet: true, priority: -1 }, 'z'],
  ])('gives up the pod %s, and no other queue does', (_, change, name) => {
    expect(victims(limited, three(change))).toEqual({ a: [name] });
  });

  test('below a queue that is over its own maximum counts for both', () => {
    const tree = [queue('p', undefined, { max: cpu(3) }), queue('a', 'p', { max: cpu(2) }), queue('c', 'p')];
    const pods = [running('x', 'a'), running('y', 'a'), running('z', 'a'), running('w', 'c', { startedAt: -1 })];
    expect(victims(tree, pods)).toEqual({ a: ['x'] });
    expect(victims(tree, [...pods, running('v', 'c', { startedAt: 9 })])).toEqual({ a: ['x'], p: ['v'] });
  });

  describe('with several queues below it', () => {
    const tree = [queue('p', undefined, { max: cpu(8_000) }), queue('grown', 'p'), queue('quiet', 'p')];
    const quiet = [running('quiet', 'quiet', { requests: cpu(4_000), startedAt: 9 })];
    const budgets = new Map([['ns/kept', 0]]);

    /** The victims, where the shares are those of these requests. */
    function taken(grown: readonly RunningPod[]): readonly (readonly string[])[] {
      const state = { ...stateOf(tree, [room('n', cpu(100_000), [...quiet, ...grown])]), budgets };
      const requested = ownUsage([...quiet, ...grown]);
      const shares = finish(createShares({ tree: state.tree, total: cpu(100_000), requested }));
      const found = finish(endOveruse(state, overusedQueues(state.tree, sumUsage(state.tree, state.own)), shares));
      return found.map(({ victims }) => victims.map(({ pod }) => pod.name));
    }

    test.each<[string, readonly RunningPod[], readonly string[]]>([
      [
        'takes pods of the one that holds more than it deserves',
        [1, 2].map((at) => running(`grown-${at}`, 'grown', { requests: cpu(4_000) })),
        ['grown-1'],
      ],
      [
        'takes its only pod, though it deserves a part of that',
        [running('grown', 'grown', { requests: cpu(8_000) })],
        ['grown'],
      ],
      [
        'takes none where a budget keeps its pods',
        [running('grown', 'grown', { requests: cpu(8_000), budgets: ['ns/kept'] })],
        [],
      ],
      [
        'takes none where its pods cannot be evicted',
        [running('grown', 'grown', { requests: cpu(8_000), isDaemonSet: true })],
        [],
      ],
    ])('%s', (_, grown, expected) => {
      expect(taken(grown)).toEqual([expected]);
    });
  });

  test('keeps its pods where budgets do, and says so', () => {
    const pods = ['x', 'y', 'z'].map((name) => running(name, 'a', { budgets: ['ns/kept'] }));
    const state = { ...stateOf(limited, [room('n', cpu(9), pods)]), budgets: new Map([['ns/kept', 0]]) };
    expect(ended(state)).toMatchObject([{ queue: 'a', victims: [], because: { code: 'OveruseKept' } }]);
    expect(ended({ ...state, budgets: new Map([['ns/kept', 1]]) })).toMatchObject([
      { victims: [{ node: 'n' }], because: { text: 'queue a uses 1m cpu more than its maximum' } },
    ]);
  });

  test('is none where it is at its maximum, has none, or is the root', () => {
    const root = queue('root', undefined, { max: cpu(1) });
    expect(victims([root, ...limited], three({}).slice(1))).toEqual({});
  });

  test('of which pods have left meanwhile keeps the rest', () => {
    const state = stateOf(limited, [room('n', cpu(9), three({}).slice(1))]);
    expect(finish(endOveruse(state, [state.tree.indexes.get('a') ?? 0]))).toEqual([]);
  });

  test('many pods are looked at in steps', () => {
    const pods = Array.from({ length: 5_000 }, (_, index) => running(`${index}`, 'a'));
    const state = stateOf(limited, [room('n', cpu(9), pods)]);
    expect([...endOveruse(state, [state.tree.indexes.get('a') ?? 0])].length).toBeGreaterThan(0);
  });
});

const amount = fc.integer({ min: 0, max: 4 });
const anyPod = fc.record({ of: fc.constantFrom('a', 'b', 'a.1', 'a.2'), cpu: amount, memory: amount });

test('after the first stage no queue uses more than it may have, by pods of that queue alone (S4-3)', () => {
  fc.assert(
    fc.property(
      fc.array(anyPod, { maxLength: 12 }),
      fc.array(amount, { minLength: 8, maxLength: 8 }),
      (plans, limits) => {
        const max = (at: number) =>
          new Map([
            ['cpu', limits[at] ?? 0],
            ['memory', limits[at + 1] ?? 0],
          ] as const);
        const queues = [
          queue('a', undefined, { max: max(0) }),
          queue('b', undefined, { max: max(2) }),
          queue('a.1', 'a', { max: max(4) }),
          queue('a.2', 'a', { max: max(6) }),
        ];
        const leaves = plans.filter(({ of }) => of !== 'a');
        const pods = leaves.map(({ of, cpu: cpus, memory }, index) =>
          running(`p-${index}`, of, {
            requests: new Map([
              ['cpu', cpus],
              ['memory', memory],
            ]),
          }),
        );
        const state = stateOf(queues, [room('n', cpu(100), pods)]);
        const usage = sumUsage(state.tree, state.own);
        const over = overusedQueues(state.tree, usage);
        const gone = new Set(ended(state).flatMap(({ victims: each }) => each.map(({ pod }) => pod)));
        const left = sumUsage(state.tree, ownUsage(pods.filter((pod) => !gone.has(pod))));
        expect(overusedQueues(state.tree, left)).toEqual([]);
        const isBelowOverused = ({ queue: name }: RunningPod) =>
          pathOf(state.tree, state.tree.indexes.get(name) ?? 0).some((index) => over.includes(index));
        expect([...gone].every(isBelowOverused)).toBe(true);
      },
    ),
  );
});

test('no pod on a node goes for one that was let in and has no node (S4-12)', () => {
  const queues = [queue('a', undefined, { max: cpu(2) })];
  const pods = [running('x', 'a'), running('y', 'a')];
  const state = { ...stateOf(queues, [room('n', cpu(100), pods)]), own: new Map([['a', cpu(3)]]) };
  expect(ended({ ...state, unplaced: new Map([['a', cpu(1)]]) })).toEqual([]);
});
