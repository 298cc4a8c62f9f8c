import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import {
  type AllocatedPod,
  type Allocations,
  completeTransfers,
  preemptingOf,
  type QueueAllocation,
  usedLater,
  usedOf,
} from '#shared/domain/queue/allocation.ts';
import { plainQueue, type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import { compareGoingFirst } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { deservedShares } from '#shared/domain/queue/shares.ts';
import { moveToDeserved, preprocess, type StageVictim, twoStagePass } from '#shared/domain/queue/two-stage.ts';
import { cpu, running, seed } from './builders.ts';

type Written = Readonly<Record<string, string | number>>;

interface WrittenQueue {
  readonly name: string;
  readonly weight?: number;
  readonly deserved?: Written;
  readonly allocated?: Written;
  readonly used?: Written;
  readonly preempting?: Written;
  readonly pods?: readonly { readonly name: string; readonly cpu: number; readonly memory: string }[];
}

function amounts(written: Written = {}): QueueAmounts {
  const quantities = Object.entries(written).map(([type, text]): [string, Quantity] => {
    const parsed = parseQuantity(String(text));
    if (!parsed.ok) throw new Error(`not a quantity: ${text}`);
    return [type, parsed.quantity];
  });
  return queueAmounts(new Map(quantities));
}

function allocation({ name, deserved, allocated, pods = [] }: WrittenQueue): QueueAllocation {
  return {
    name,
    deserved: amounts(deserved),
    allocated: amounts(allocated),
    pods: pods.map((pod) =>
      running(`${name}/${pod.name}`, name, { requests: amounts({ cpu: pod.cpu, memory: pod.memory }) }),
    ),
  };
}

function state(total: Written, queues: readonly QueueAllocation[]): Allocations {
  return { total: amounts(total), queues, transfers: [], budgets: new Map() };
}

/** Only what the table says, in plain numbers of thousandths and bytes. */
function expectTable(after: Allocations, queues: readonly WrittenQueue[]): void {
  for (const { name, allocated, used, preempting, deserved } of queues) {
    const queue = after.queues.find((each) => each.name === name) as QueueAllocation;
    const shown = (given: Written | undefined, found: QueueAmounts) =>
      given === undefined ? {} : Object.fromEntries(Object.keys(given).map((type) => [type, found.get(type) ?? 0]));
    const plain = (given: Written | undefined) => Object.fromEntries(amounts(given));
    expect(shown(allocated, queue.allocated), `${name} allocated`).toEqual(plain(allocated));
    expect(shown(deserved, queue.deserved), `${name} deserved`).toEqual(plain(deserved));
    expect(shown(used, usedOf(queue)), `${name} used`).toEqual(plain(used));
    expect(shown(preempting, preemptingOf(after, name)), `${name} preempting`).toEqual(plain(preempting));
  }
}

function gone(after: Allocations): Allocations {
  const queues = after.queues.map((queue) => ({
    ...queue,
    pods: queue.pods.filter(({ isTerminating }) => isTerminating !== true),
  }));
  return completeTransfers({ ...after, queues });
}

function namesOf(victims: readonly StageVictim[]): readonly string[] {
  return victims.map(({ pod }) => pod.name);
}

function sumsOf(after: Allocations): Readonly<Record<string, number>> {
  const types = [...after.total.keys()];
  return Object.fromEntries(
    types.map((type) => [
      type,
      after.queues.reduce((sum, { name, allocated }) => {
        return sum + Number(allocated.get(type) ?? 0) + Number(preemptingOf(after, name).get(type) ?? 0);
      }, 0),
    ]),
  );
}

interface NineCpus {
  readonly given: {
    readonly total: Written;
    readonly queues: readonly WrittenQueue[];
    readonly arrives: { readonly name: string; readonly weight: number };
  };
  readonly then: readonly {
    readonly queues: readonly WrittenQueue[];
    readonly victims?: Readonly<Record<string, readonly string[]>>;
  }[];
}

describe('the 9-CPU example (S4-9)', () => {
  const { given, then } = seed('s4-9') as NineCpus;
  const [shares, stage, end] = then;
  const weights = [...given.queues, given.arrives];
  const tree = createQueueTree(weights.map(({ name, weight = 1 }) => ({ ...plainQueue(name), weight })));
  const total = amounts(given.total);
  const deserved = deservedShares({ tree, total, requested: new Map(weights.map(({ name }) => [name, total])) });
  const before = state(given.total, [
    ...given.queues.map((queue) => ({ ...allocation(queue), deserved: deserved.get(queue.name) ?? new Map() })),
    {
      name: given.arrives.name,
      deserved: deserved.get(given.arrives.name) ?? new Map(),
      allocated: new Map(),
      pods: [],
    },
  ]);

  test('step 1: shares follow the weights', () => {
    expectTable(before, shares?.queues ?? []);
  });

  test('step 2: what is not used moves at once, and one pod of each giver goes (S4-4 to S4-6, S4-8)', () => {
    const { after, victims } = moveToDeserved(preprocess(before).after);
    expectTable(after, stage?.queues ?? []);
    expect(namesOf(victims)).toEqual(
      Object.entries(stage?.victims ?? {}).flatMap(([name, pods]) => pods.map((pod) => `${name}/${pod}`)),
    );
    expect(sumsOf(after)).toEqual(Object.fromEntries(total));
  });

  test('step 3: when both are gone the third queue has all (S4-8)', () => {
    const after = gone(twoStagePass(before).after);
    expectTable(after, end?.queues ?? []);
    expect(twoStagePass(after)).toEqual({ after, victims: [] });
  });
});

describe('the overuse example (S4-10)', () => {
  interface Overuse {
    readonly given: { readonly total: Written; readonly queues: readonly WrittenQueue[] };
    readonly then: {
      readonly victims: Readonly<Record<string, { readonly count: number; readonly oneOf?: readonly string[] }>>;
      readonly queuesIfPod1: readonly WrittenQueue[];
    };
  }
  const { given, then } = seed('s4-10') as Overuse;
  const { after, victims } = preprocess(state(given.total, given.queues.map(allocation)));

  test('one pod of 2 CPUs goes, of that queue alone (S4-3)', () => {
    expect(victims.map(({ pod }) => pod.queue)).toEqual(['Queue-1']);
    expect(then.victims['Queue-1']?.oneOf?.map((name) => `Queue-1/${name}`)).toContain(namesOf(victims)[0]);
    expectTable(gone(after), then.queuesIfPod1);
  });

  test('which of two equal pods is not left to chance (S4-11)', () => {
    const turned = given.queues.map((queue) => ({ ...queue, pods: queue.pods?.toReversed() ?? [] }));
    expect(namesOf(preprocess(state(given.total, turned.map(allocation))).victims)).toEqual(namesOf(victims));
  });
});

test('the order inside a queue (S4-11, S4-12, S4-13)', () => {
  interface Order {
    readonly given: {
      readonly pods: readonly { readonly name: string; readonly priority: number; readonly runningSeconds?: number }[];
    };
    readonly then: { readonly order: readonly string[] };
  }
  const { given, then } = seed('s4-11') as Order;
  const pods = given.pods.map(({ name, priority, runningSeconds }) =>
    running(name, 'q', { priority, startedAt: runningSeconds === undefined ? undefined : -runningSeconds }),
  );
  expect(pods.sort(compareGoingFirst).map(({ name }) => name)).toEqual(then.order);
});

interface OneStage {
  readonly given: { readonly queues: readonly WrittenQueue[] };
}

/** The seeds give what is used where they name no pods. */
function withUsage(queue: WrittenQueue): QueueAllocation {
  const made = allocation(queue);
  const used = running(`${queue.name}/all`, queue.name, { requests: amounts(queue.used) });
  return made.pods.length > 0 ? made : { ...made, pods: [used] };
}

test('what is allocated and not used moves without a removal (S4-5)', () => {
  const { given, then } = seed('s4-5') as OneStage & { readonly then: { readonly queues: readonly WrittenQueue[] } };
  const { after, victims } = moveToDeserved(state({ cpu: 8, memory: '8Gi' }, given.queues.map(withUsage)));
  expect(victims).toEqual([]);
  expectTable(after, then.queues);
});

test('the giver is closed before any pod goes (S4-6)', () => {
  const { given, then } = seed('s4-6') as OneStage & {
    readonly then: readonly { readonly victims?: readonly string[]; readonly queues?: readonly WrittenQueue[] }[];
  };
  const { after, victims } = moveToDeserved(state({ cpu: 8, memory: '8Gi' }, given.queues.map(withUsage)));
  expect(namesOf(victims)).toEqual(then[0]?.victims?.map((name) => `giver/${name}`));
  expectTable(after, then[0]?.queues ?? []);
  const giver = after.queues[0] as QueueAllocation;
  expect(Number(usedOf(giver).get('cpu')) + 1_000).toBeGreaterThan(Number(giver.allocated.get('cpu')));
  expectTable(gone(after), then[2]?.queues ?? []);
});

test('a budget keeps its pods (D-21)', () => {
  const guarded = (name: string): AllocatedPod => running(name, 'a', { budgets: ['pdb'] });
  const queues = [
    { name: 'a', deserved: cpu(1), allocated: cpu(2), pods: [guarded('x'), guarded('y')] },
    { name: 'b', deserved: cpu(1), allocated: cpu(0), pods: [] },
  ];
  const given = { total: cpu(2), queues, transfers: [], budgets: new Map([['pdb', 0]]) };
  expect(moveToDeserved(given)).toEqual({ after: given, victims: [] });
});

describe('of many passes', () => {
  const size = fc.nat(4).map((amount) => amount + 1);
  const drawn = fc.record({
    weights: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)),
    allocated: fc.tuple(fc.nat(12), fc.nat(12), fc.nat(12)),
    sizes: fc.tuple(
      fc.array(size, { maxLength: 6 }),
      fc.array(size, { maxLength: 6 }),
      fc.array(size, { maxLength: 6 }),
    ),
  });

  test('amounts add up at every step, no queue gives below what it deserves, and a second pass finds nothing to do', () => {
    fc.assert(
      fc.property(drawn, ({ weights, allocated, sizes }) => {
        const total = cpu(allocated.reduce((sum, amount) => sum + amount, 0));
        const names = ['a', 'b', 'c'];
        const tree = createQueueTree(names.map((name, i) => ({ ...plainQueue(name), weight: (weights[i] ?? 0) + 1 })));
        const deserved = deservedShares({ tree, total, requested: new Map(names.map((name) => [name, total])) });
        const queues = names.map((name, i) => ({
          name,
          deserved: deserved.get(name) ?? new Map(),
          allocated: cpu(allocated[i] ?? 0),
          pods: (sizes[i] ?? []).map((each, at) => running(`${name}${at}`, name, { requests: cpu(each) })),
        }));
        const first = preprocess({ total, queues, transfers: [], budgets: new Map() });
        const ofFirst = new Set(first.victims.map(({ pod }) => pod.uid));
        for (const queue of first.after.queues) {
          expect(Number(usedLater(queue).get('cpu') ?? 0)).toBeLessThanOrEqual(Number(queue.allocated.get('cpu')));
        }
        const second = moveToDeserved(first.after);
        expect(second.victims.every(({ pod }) => !ofFirst.has(pod.uid))).toBe(true);
        for (const { pod } of second.victims) {
          const queue = second.after.queues.find(({ name }) => name === pod.queue) as QueueAllocation;
          const kept = Number(usedLater(queue).get('cpu') ?? 0);
          expect(kept).toBeGreaterThanOrEqual(Number(queue.deserved.get('cpu')));
          expect(kept).toBeLessThanOrEqual(Number(queue.allocated.get('cpu')));
        }
        expect(sumsOf(second.after)).toEqual(Object.fromEntries(total));
        const end = gone(second.after);
        expect(sumsOf(end)).toEqual(Object.fromEntries(total));
        expect(end.transfers).toEqual([]);
        expect(twoStagePass(end)).toEqual({ after: end, victims: [] });
      }),
      { numRuns: 3_000 },
    );
  });

  test('a total that shrinks comes off what is not used', () => {
    const queues = [
      { name: 'a', deserved: cpu(2), allocated: cpu(5), pods: [running('x', 'a', { requests: cpu(3) })] },
      { name: 'b', deserved: cpu(1), allocated: cpu(2), pods: [] },
    ];
    const { after, victims } = twoStagePass({ total: cpu(4), queues, transfers: [], budgets: new Map() });
    expect(victims).toEqual([]);
    expect(after.queues.map(({ allocated }) => allocated.get('cpu'))).toEqual([3, 1]);
  });
});
