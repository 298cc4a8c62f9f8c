import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { plainQueue, type Queue, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createQueueTree, isLeaf } from '#shared/domain/queue/queue-tree.ts';
import {
  createShares,
  deservedOf,
  deservedShares,
  refreshShares,
  setRequested,
  treeOfShares,
} from '#shared/domain/queue/shares.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { fillToLevel } from '#shared/domain/queue/water-level.ts';
import { exactShares, isWithinOne } from './exact-level.ts';

const cpu = (amount: Whole): QueueAmounts => new Map([['cpu', amount]]);

function queue(name: string, parent?: string, change: Partial<Queue> = {}): Queue {
  return { ...plainQueue(name, parent), ...change };
}

function cpuDeserved(
  queues: readonly Queue[],
  total: Whole,
  requested: Readonly<Record<string, Whole>>,
): Readonly<Record<string, Whole | undefined>> {
  const deserved = deservedShares({
    tree: createQueueTree(queues),
    total: cpu(total),
    requested: new Map(Object.entries(requested).map(([name, amount]) => [name, cpu(amount)])),
  });
  return Object.fromEntries(Array.from(deserved, ([name, amounts]) => [name, amounts.get('cpu')]));
}

describe('deservedShares', () => {
  test('divides by weight (S4-9)', () => {
    const queues = [
      queue('a', undefined, { weight: 2 }),
      queue('b', undefined, { weight: 4 }),
      queue('c', undefined, { weight: 3 }),
    ];
    expect(cpuDeserved(queues, 9, { a: 9, b: 9, c: 9 })).toMatchObject({ a: 2, b: 4, c: 3 });
  });

  test('children share what their parent deserves, level by level', () => {
    const queues = [queue('a'), queue('b'), queue('a.1', 'a'), queue('a.2', 'a', { weight: 3 })];
    expect(cpuDeserved(queues, 16, { b: 99, 'a.1': 99, 'a.2': 99 })).toEqual({
      root: 16,
      a: 8,
      b: 8,
      'a.1': 2,
      'a.2': 6,
    });
  });

  test('what a queue does not ask for goes to the others, below a parent first', () => {
    const queues = [queue('a'), queue('b'), queue('a.1', 'a'), queue('a.2', 'a')];
    const deserved = cpuDeserved(queues, 16, { b: 99, 'a.1': 1, 'a.2': 99 });
    expect(deserved).toMatchObject({ a: 8, 'a.1': 1, 'a.2': 7, b: 8 });
    expect(cpuDeserved(queues, 16, { b: 99, 'a.1': 1, 'a.2': 2 })).toMatchObject({ a: 3, b: 13 });
  });

  test('a maximum binds a queue and everything below it', () => {
    const queues = [queue('a', undefined, { max: cpu(4) }), queue('b'), queue('a.1', 'a'), queue('a.2', 'a')];
    expect(cpuDeserved(queues, 16, { b: 99, 'a.1': 9, 'a.2': 9 })).toMatchObject({ a: 4, 'a.1': 2, 'a.2': 2, b: 12 });
  });

  test('a guarantee holds for a queue that asks for less, and below a parent without one', () => {
    const queues = [queue('a'), queue('b'), queue('a.1', 'a', { guaranteed: cpu(10) }), queue('a.2', 'a')];
    expect(cpuDeserved(queues, 16, { b: 99, 'a.2': 9 })).toMatchObject({ a: 10, 'a.1': 10, 'a.2': 0, b: 6 });
  });

  test('without a weight a queue gets its guarantee and no more', () => {
    const queues = [queue('a', undefined, { weight: 0, guaranteed: cpu(3) }), queue('b')];
    expect(cpuDeserved(queues, 16, { a: 16, b: 1 })).toMatchObject({ a: 3, b: 1 });
  });

  test('guarantees above the total are given, and nothing else (S2-19)', () => {
    const queues = [
      queue('a', undefined, { guaranteed: cpu(9) }),
      queue('b', undefined, { guaranteed: cpu(9) }),
      queue('c'),
    ];
    expect(cpuDeserved(queues, 16, { a: 9, b: 9, c: 9 })).toMatchObject({ a: 9, b: 9, c: 0 });
  });

  test('pods of a queue that has children come first there', () => {
    const queues = [queue('a'), queue('a.1', 'a')];
    expect(cpuDeserved(queues, 10, { a: 3, 'a.1': 99 })).toMatchObject({ a: 10, 'a.1': 7 });
  });

  test('pods of queues that are not there count for the root, all of them', () => {
    const queues = [queue('a'), queue('a.1', 'a')];
    const shares = cpuDeserved(queues, 10, { root: 1, gone: 3, 'long gone': 4, a: 99 });
    expect(shares).toMatchObject({ root: 10, a: 2 });
  });

  test('a type that the total does not name is not shared', () => {
    const tree = createQueueTree([queue('a')]);
    const deserved = deservedShares({ tree, total: cpu(4), requested: new Map([['a', new Map([['gpu', 2]])]]) });
    expect([...(deserved.get('a')?.keys() ?? [])]).toEqual(['cpu']);
  });

  test('amounts beyond doubles stay exact', () => {
    const queues = [queue('a', undefined, { weight: 1 }), queue('b', undefined, { weight: 2 })];
    const total = 3n * 10n ** 30n + 1n;
    expect(cpuDeserved(queues, total, { a: total, b: total })).toMatchObject({
      a: 10n ** 30n + 1n,
      b: 2n * 10n ** 30n,
    });
  });
});

const amount = fc.oneof(fc.nat(50), fc.nat(10_000), fc.maxSafeNat());
const share = fc
  .record({ weight: fc.oneof(fc.nat(5), fc.nat(10_000)), floor: fc.oneof(fc.constant(0), amount), more: amount })
  .map(({ weight, floor, more }) => ({ weight, floor, ceiling: Math.min(floor + more, Number.MAX_SAFE_INTEGER) }));

describe('fillToLevel', () => {
  test('is the exact share, less than a unit away, and adds up to the total', () => {
    fc.assert(
      fc.property(fc.array(share, { maxLength: 12 }), amount, (shares, total) => {
        const amounts = fillToLevel(shares, total).map(BigInt);
        const bounds = shares.map(({ weight, floor, ceiling }) => ({
          weight: BigInt(weight),
          floor: BigInt(floor),
          ceiling: weight === 0 ? BigInt(floor) : BigInt(ceiling),
        }));
        const exact = exactShares(bounds, BigInt(total));
        expect(amounts.every((each, index) => isWithinOne(each, exact[index] ?? [0n, 1n]))).toBe(true);
        const floors = bounds.reduce((sum, { floor }) => sum + floor, 0n);
        const ceilings = bounds.reduce((sum, { ceiling }) => sum + ceiling, 0n);
        const most = ceilings < BigInt(total) ? ceilings : BigInt(total);
        expect(amounts.reduce((sum, each) => sum + each, 0n)).toBe(most < floors ? floors : most);
        const isBetween = ({ floor, ceiling }: (typeof bounds)[number], each = -1n) => each >= floor && each <= ceiling;
        expect(bounds.every((each, index) => isBetween(each, amounts[index]))).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test('ten thousand shares of one parent with bounds that grow without end are looked at a few times each', () => {
    let looks = 0;
    const shares = Array.from({ length: 10_000 }, (_, index) => ({
      weight: 1 + ((index * 7_919) % 10_000),
      floor: index % 3 === 0 ? 2 ** (index % 40) : 0,
      get ceiling() {
        looks += 1;
        return 2 ** (index % 40) + 2 ** ((index * 31) % 52);
      },
    }));
    fillToLevel(shares, 2 ** 50);
    expect(looks / shares.length).toBeLessThan(20);
  });
});

describe('refreshShares', () => {
  const names = ['a', 'a.1', 'a.2', 'a.1.x', 'a.1.y', 'b', 'b.1', 'b.2', 'c'];
  const parentOf = (name: string): string | undefined => name.split('.').slice(0, -1).join('.') || undefined;
  const small = fc.nat(40);
  const tree = fc
    .tuple(
      ...names.map((name) =>
        fc
          .record({ weight: fc.nat(4), floor: fc.option(small), most: fc.option(small) })
          .map(({ weight, floor, most }) =>
            queue(name, parentOf(name), {
              weight,
              guaranteed: floor === null ? new Map<string, Whole>() : cpu(floor),
              max: most === null ? new Map<string, Whole>() : cpu(most),
            }),
          ),
      ),
    )
    .map((queues) => createQueueTree(queues));
  const changes = fc.array(fc.tuple(fc.constantFrom(...names), small), { minLength: 1, maxLength: 30 });

  test('follows changes to what a start from nothing gives', () => {
    fc.assert(
      fc.property(tree, fc.nat(100), changes, (queues, total, steps) => {
        const state = finish(createShares({ tree: queues, total: cpu(total), requested: new Map() }));
        const requested = new Map<string, QueueAmounts>();
        for (const [name, asked] of steps) {
          setRequested(state, queues.indexes.get(name) ?? 0, cpu(asked));
          requested.set(name, cpu(asked));
          finish(refreshShares(state));
          const anew = deservedShares({ tree: queues, total: cpu(total), requested });
          queues.queues.forEach(({ name: each }, index) => {
            expect(deservedOf(state, index), each).toEqual(anew.get(each));
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  test('children never get more than their parent where their guarantees fit in it', () => {
    fc.assert(
      fc.property(tree, fc.nat(100), changes, (queues, total, steps) => {
        const requested = new Map(steps.map(([name, asked]) => [name, cpu(asked)]));
        const deserved = deservedShares({ tree: queues, total: cpu(total), requested });
        const of = (index: number): number => Number(deserved.get(queues.queues[index]?.name ?? '')?.get('cpu'));
        queues.children.forEach((children, index) => {
          const sum = children.reduce((all, child) => all + of(child), 0);
          const floors = deservedShares({ tree: queues, total: cpu(0), requested: new Map() });
          const promised = children.reduce(
            (all, child) => all + Number(floors.get(queues.queues[child]?.name ?? '')?.get('cpu')),
            0,
          );
          expect(sum).toBeLessThanOrEqual(Math.max(of(index), promised));
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('createQueueTree', () => {
  test('a queue under an unknown parent, or in a circle, stands below the root with nothing to its name', () => {
    const tree = createQueueTree([
      queue('lost', 'nowhere', { guaranteed: cpu(5), weight: 7 }),
      queue('child', 'lost'),
      queue('x', 'y'),
      queue('y', 'x'),
      queue('under', 'x'),
      queue('self', 'self'),
      queue('good'),
    ]);
    expect(tree.detached).toEqual(
      new Map([
        ['lost', 'UnknownParent'],
        ['child', 'UnknownParent'],
        ['x', 'Cycle'],
        ['y', 'Cycle'],
        ['under', 'Cycle'],
        ['self', 'Cycle'],
      ]),
    );
    const lost = tree.queues[tree.indexes.get('lost') ?? -1];
    expect(lost).toMatchObject({
      parent: 'root',
      weight: 0,
      guaranteed: new Map(),
      preemption: { policy: 'Disabled' },
    });
    expect(isLeaf(tree, tree.indexes.get('lost') ?? -1)).toBe(false);
    expect(isLeaf(tree, tree.indexes.get('good') ?? -1)).toBe(true);
  });

  test('takes a thousand levels, listed from below', () => {
    const queues = Array.from({ length: 1_000 }, (_, index) =>
      queue(`q${index}`, index === 0 ? undefined : `q${index - 1}`),
    );
    const tree = createQueueTree(queues.toReversed());
    expect(tree.detached.size).toBe(0);
    expect(tree.queues.at(-1)?.name).toBe('q999');
    expect(cpuDeserved(queues.toReversed(), 7, { q999: 9 })['q999']).toBe(7);
  });
});

describe('treeOfShares', () => {
  const total: QueueAmounts = new Map([
    ['cpu', 9],
    ['memory', 100],
  ]);
  const queues = [queue('a', undefined, { weight: 2, guaranteed: cpu(1) }), queue('b', undefined, { weight: 1 })];
  const sharesOf = (requested: ReadonlyMap<string, QueueAmounts>, own = new Map<string, QueueAmounts>()) => {
    const plain = createQueueTree(queues);
    return treeOfShares(finish(createShares({ tree: plain, total, requested })), sumUsage(plain, own));
  };
  const floorsOf = (requested: ReadonlyMap<string, QueueAmounts>) => {
    const tree = sharesOf(requested);
    return [tree.floor, ...['a', 'b'].map((name) => tree.queues[tree.indexes.get(name) ?? 0]?.guaranteed)];
  };
  const both = (amounts: QueueAmounts) => new Map(['a', 'b'].map((name) => [name, amounts]));

  test('has what queues deserve in the place of guarantees, of what is scarce', () => {
    const asked = new Map([
      ['cpu', 9],
      ['memory', 20],
    ]);
    expect(floorsOf(both(asked))).toEqual(['share', cpu(6), cpu(3)]);
  });

  test.each<[string, QueueAmounts, readonly string[]]>([
    ['nothing', cpu(3), []],
    ['a type that is scarce', cpu(4), ['cpu']],
    ['a type of which there is enough for all', new Map([['memory', 90]]), []],
  ])('is contended where a queue has more than its share of %s', (_, ofB, contended) => {
    expect([...(sharesOf(both(cpu(9)), new Map([['b', ofB]])).contended ?? [])]).toEqual(contended);
  });

  test('has nothing where there is enough for all', () => {
    expect(floorsOf(both(cpu(4)))).toEqual(['share', new Map(), new Map()]);
  });
});
