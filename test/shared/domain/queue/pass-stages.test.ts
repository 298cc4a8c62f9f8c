import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { type Allocation, type PassSnapshot, preempt, preprocess } from '#shared/domain/queue/pass-stages.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { type QueueUsage, usedBy } from '#shared/domain/queue/usage.ts';
import { cpu, ownUsage, queue, seed, waiting } from './builders.ts';
import { passBreaches } from './pass-laws.ts';
import { passSnapshots } from './pass-scenes.ts';

interface SeedAmounts {
  readonly cpu: number;
  /** Such as 9Gi. */
  readonly memory: string;
}

interface SeedPod extends SeedAmounts {
  readonly name: string;
  readonly state?: string;
}

interface SeedQueue {
  readonly name: string;
  readonly weight: number;
  readonly deserved: SeedAmounts;
  readonly allocated: SeedAmounts;
  readonly used: SeedAmounts;
  readonly preempting?: SeedAmounts;
  readonly pods: readonly SeedPod[];
}

interface NineCpus {
  readonly given: { readonly total: SeedAmounts; readonly queues: readonly SeedQueue[] };
  readonly then: readonly { readonly queues: readonly SeedQueue[] }[];
}

const { given, then } = seed('s4-9') as NineCpus;

/** CPUs and Gi. */
function amounts({ cpu: cpus, memory }: SeedAmounts): QueueAmounts {
  return new Map([
    ['cpu', cpus],
    ['memory', Number.parseInt(memory, 10)],
  ]);
}

const arriving = { cpu: 1, memory: '3Gi' };
const third = [0, 1, 2].map((index) => waiting(`pod-${index}`, 'Queue-3', { requests: amounts(arriving) }));

/** The pods of the first two queues, each of which would take all there is, and of the third queue if it has arrived. */
function passAt(queues: readonly SeedQueue[], letIn: readonly string[] = []): PassSnapshot {
  const running = queues.flatMap(({ name, pods }) => pods.map((pod) => ({ queue: name, requests: amounts(pod) })));
  const greedy = given.queues.map(({ name }) =>
    waiting(`more-${name}`, name, { requests: amounts(given.total), waitingSince: 0 }),
  );
  const ofThird = queues.some(({ name }) => name === 'Queue-3') ? third : [];
  const admitted = [...running, ...ofThird.filter(({ name }) => letIn.includes(name))];
  const gated = [...greedy, ...ofThird.filter(({ name }) => !letIn.includes(name))];
  return {
    tree: createQueueTree(queues.map(({ name, weight }) => queue(name, undefined, { weight }))),
    total: amounts(given.total),
    admitted: ownUsage(admitted),
    used: ownUsage(running),
    requested: ownUsage([...admitted, ...gated]),
    waiting: gated,
    reclaimBy: 'Shares',
    isReclaiming: true,
  };
}

function stagesOf(snapshot: PassSnapshot) {
  const first = finish(preprocess(snapshot));
  return { first, second: finish(preempt(snapshot, first)) };
}

/** A column of the table, by queue and type. */
function column({ tree }: PassSnapshot, usage: QueueUsage) {
  return Object.fromEntries(
    tree.queues.slice(1).map(({ name }) => {
      const index = tree.indexes.get(name) ?? -1;
      return [name, Object.fromEntries(['cpu', 'memory'].map((type) => [type, usedBy(usage, index, type)]))];
    }),
  );
}

function columnOf(queues: readonly SeedQueue[], field: 'deserved' | 'allocated' | 'used' | 'preempting') {
  const nothing = { cpu: 0, memory: '0Gi' };
  return Object.fromEntries(queues.map((each) => [each.name, Object.fromEntries(amounts(each[field] ?? nothing))]));
}

describe('the 9-CPU example, in both types, as in its tables (S4-1, S4-9, S4-15)', () => {
  const [step1, step2, step3] = then.map(({ queues }) => queues) as [SeedQueue[], SeedQueue[], SeedQueue[]];
  const allTotal = { cpu: 9, memory: 27 };

  const added = ({ allocated, preempting }: Allocation, { tree }: PassSnapshot) => {
    const sum = (type: string): number =>
      tree.queues
        .slice(1)
        .reduce(
          (total, _, at) => total + Number(usedBy(allocated, at + 1, type)) + Number(usedBy(preempting, at + 1, type)),
          0,
        );
    return { cpu: sum('cpu'), memory: sum('memory') };
  };

  test('before the third queue arrives', () => {
    const snapshot = passAt(given.queues);
    const { second } = stagesOf(snapshot);
    expect(column(snapshot, second.allocation.allocated)).toEqual(columnOf(given.queues, 'allocated'));
    expect(added(second.allocation, snapshot)).toEqual(allTotal);
  });

  test('step 1: preprocess works the shares out, and nothing has moved', () => {
    const snapshot = passAt(step1);
    const { first } = stagesOf(snapshot);
    const deserved = step1.map(({ name }) => {
      const index = snapshot.tree.indexes.get(name) ?? -1;
      return [name, Object.fromEntries(deservedOf(first.shares, index))];
    });
    expect(Object.fromEntries(deserved)).toEqual(columnOf(step1, 'deserved'));
    expect(column(snapshot, first.used)).toEqual(columnOf(step1, 'used'));
  });

  test('step 2: preemption moves what is free at once, and the rest counts as preempting', () => {
    const snapshot = passAt(step2);
    const { second } = stagesOf(snapshot);
    expect(column(snapshot, second.allocation.allocated)).toEqual(columnOf(step2, 'allocated'));
    expect(column(snapshot, second.allocation.preempting)).toEqual(columnOf(step2, 'preempting'));
    expect(added(second.allocation, snapshot)).toEqual(allTotal);
    expect(second.atOnce.map(({ name }) => name)).toEqual(['pod-0']);
    expect(second.seeking.map(({ name }) => name)).toEqual(['pod-1', 'pod-2']);
  });

  test('between, when one of the two pods is gone', () => {
    const snapshot = passAt(
      step2.map((each) => (each.name === 'Queue-1' ? (step3[0] as SeedQueue) : each)),
      ['pod-0'],
    );
    const { second } = stagesOf(snapshot);
    const cpus = (usage: QueueUsage) =>
      Object.values(column(snapshot, usage)).map((each) => (each as { cpu: number }).cpu);
    expect([cpus(second.allocation.allocated), cpus(second.allocation.preempting)]).toEqual([
      [2, 4, 2],
      [0, 0, 1],
    ]);
    expect(added(second.allocation, snapshot)).toEqual(allTotal);
  });

  test('step 3: both pods are gone', () => {
    const snapshot = passAt(
      step3,
      third.map(({ name }) => name),
    );
    const { second } = stagesOf(snapshot);
    expect(column(snapshot, second.allocation.allocated)).toEqual(columnOf(step3, 'allocated'));
    expect(column(snapshot, second.allocation.preempting)).toEqual(columnOf(step3, 'preempting'));
    expect(added(second.allocation, snapshot)).toEqual(allTotal);
  });
});

describe('the two stages of a pass', () => {
  test('are pure, and allocated and preempting add up to the total in each type (S4-1, S4-15)', () => {
    fc.assert(
      fc.property(passSnapshots, (snapshot) => {
        expect(passBreaches(snapshot)).toEqual([]);
      }),
      { numRuns: 250, seed: 30 },
    );
  });

  /** Two queues of which `a` has everything and `b` waits for half of it. */
  function halved(
    change: Partial<PassSnapshot> = {},
    queues: readonly Queue[] = [queue('a'), queue('b')],
  ): PassSnapshot {
    const admitted = ownUsage([{ queue: 'a', requests: cpu(8) }]);
    const gated = ['p', 'q'].map((name) => waiting(name, 'b', { requests: cpu(2) }));
    const requested = new Map([...admitted, ...ownUsage(gated)]);
    const tree = createQueueTree(queues);
    const rest = { reclaimBy: 'Shares', isReclaiming: true } as const;
    return { tree, total: cpu(8), admitted, used: admitted, requested, waiting: gated, ...rest, ...change };
  }

  const cpusOf = ({ allocated, preempting }: Allocation) =>
    [allocated, preempting].map((usage) => [0, 1, 2].map((index) => usedBy(usage, index, 'cpu')));

  test('without reclaim the shares are lowered all the same, and nothing is on its way', () => {
    expect(cpusOf(stagesOf(halved()).second.allocation)).toEqual([
      [4, 4, 0],
      [4, 0, 4],
    ]);
    expect(cpusOf(stagesOf(halved({ isReclaiming: false })).second.allocation)).toEqual([
      [8, 4, 4],
      [0, 0, 0],
    ]);
  });

  test('what is freed on nodes that are closed is no part of the total, so that no amount is negative', () => {
    const queues = [queue('a'), queue('b', undefined, { guaranteed: cpu(4) })];
    const { allocation, seeking } = stagesOf(
      halved({ total: cpu(0), beyond: cpu(8), reclaimBy: 'Guarantees' }, queues),
    ).second;
    expect(seeking.length).toBe(2);
    expect(cpusOf(allocation)).toEqual([
      [0, 0, 0],
      [0, 0, 4],
    ]);
  });

  test('guarantees that are together above the total are kept, so that only then more is promised than there is (S2-19)', () => {
    const queues = [queue('a', undefined, { guaranteed: cpu(8) }), queue('b', undefined, { guaranteed: cpu(4) })];
    expect(cpusOf(stagesOf(halved({ isReclaiming: false }, queues)).second.allocation)[0]).toEqual([8, 8, 4]);
  });

  test('a queue above its maximum is named by preprocess', () => {
    const queues = [queue('a', undefined, { max: cpu(6) }), queue('b')];
    expect(stagesOf(halved({}, queues)).first.overused).toEqual([1]);
    expect(stagesOf(halved()).first.overused).toEqual([]);
  });
});
