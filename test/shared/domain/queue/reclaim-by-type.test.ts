import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { decideReclaim } from '#shared/domain/queue/reclaim.ts';
import { createShares, treeOfShares } from '#shared/domain/queue/shares.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { node, ownUsage, queue, running, waiting } from './builders.ts';

const both = (cpus: number, memory: number): QueueAmounts =>
  new Map([
    ['cpu', cpus],
    ['memory', memory],
  ]);

/** What a pod of `taker` takes from `giver`, which has 4 CPUs of the 2 that it deserves. */
function victims(memory: { readonly deserved: number; readonly used: number }, contended: readonly string[]) {
  const queues = [
    queue('taker', undefined, { guaranteed: both(2, 4) }),
    queue('giver', undefined, { guaranteed: both(2, memory.deserved) }),
  ];
  const pods = [0, 1, 2, 3].map((index) => running(`v-${index}`, 'giver', { requests: both(1, memory.used / 4) }));
  const tree = { ...createQueueTree(queues), floor: 'share' as const, contended: new Set(contended) };
  const decision = decideReclaim({
    tree,
    usage: sumUsage(tree, ownUsage(pods)),
    now: 0,
    budgets: new Map(),
    pod: waiting('p', 'taker', { requests: both(2, 1) }),
    nodes: [node('n', both(4, 100), pods)],
  });
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : [];
}

describe('a queue that has too much processor time and less memory than it deserves', () => {
  const under = { deserved: 12, used: 8 };

  test('gives processor time, with the memory of the pods, where no queue has too much memory (D-8, S4-15)', () => {
    expect(victims(under, ['cpu'])).toEqual(['v-0', 'v-1']);
  });

  test('gives no pod where another queue has too much memory, so that it waits for some itself', () => {
    expect(victims(under, ['cpu', 'memory'])).toEqual([]);
  });

  test('is not brought below its share of a type of which it has as much as it deserves (D-15)', () => {
    expect(victims({ deserved: 8, used: 8 }, ['cpu'])).toEqual([]);
    expect(victims({ deserved: 4, used: 8 }, ['cpu'])).toEqual(['v-0', 'v-1']);
    expect(victims({ deserved: 5, used: 8 }, ['cpu'])).toEqual([]);
  });
});

interface Shop {
  readonly guaranteed: QueueAmounts;
  readonly pods: readonly QueueAmounts[];
}

const ROOM = both(8, 16);

/** Pods of queues on one node that is full of one type; `taker` wants one more pod. */
function clusterOf(shops: Readonly<Record<string, Shop>>) {
  const tree = createQueueTree(
    Object.entries(shops).map(([name, { guaranteed }]) => queue(name, undefined, { guaranteed })),
  );
  const pods = Object.entries(shops).flatMap(([name, shop]) =>
    shop.pods.map((requests, index) => running(`${name}-${index}`, name, { requests })),
  );
  return { tree, pods, usage: sumUsage(tree, ownUsage(pods)) };
}

function taken(
  { tree, pods, usage }: ReturnType<typeof clusterOf>,
  by: 'Guarantees' | 'Shares',
  requests = both(1, 1),
) {
  const promised = { ...tree, total: ROOM };
  const requested = ownUsage([...pods, waiting('p', 'taker', { requests }), waiting('q', 'over', { requests })]);
  const shares = finish(createShares({ tree, total: ROOM, requested }));
  const decision = decideReclaim({
    usage,
    now: 0,
    budgets: new Map(),
    tree: by === 'Shares' ? { ...treeOfShares(shares, usage), promised } : promised,
    pod: waiting('p', 'taker', { requests }),
    nodes: [node('n', ROOM, pods)],
  });
  return decision.kind === 'reclaim' ? decision.victims.map(({ queue: name }) => name) : decision.because.text;
}

const times = (count: number, requests: QueueAmounts) => Array.from({ length: count }, () => requests);

describe.each(['Guarantees', 'Shares'] as const)('a queue under its guarantee, by %s', (by) => {
  test('gets the type that is short from a queue that does not use its guarantee of another type', () => {
    const world = clusterOf({
      taker: { guaranteed: both(4, 0), pods: times(2, both(1, 1)) },
      over: { guaranteed: both(2, 8), pods: times(6, both(1, 1)) },
    });
    expect(taken(world, by)).toEqual(['over']);
  });

  test('gets none of it where the other type is short as well, and the reason says who keeps it and why', () => {
    const world = clusterOf({
      taker: { guaranteed: both(4, 0), pods: times(2, both(1, 4)) },
      over: { guaranteed: both(2, 8), pods: times(6, both(1, 1)) },
    });
    const why = taken(world, by, both(1, 4));
    expect(why).toContain('queue over is over its guarantee (cpu 6m of 2m, memory 6 of 8) and gives none');
    expect(why).toContain('below its guarantee (memory 6 of 8) without such a pod');
  });

  test('takes from a queue that is over its own, though others are each over in one type only (S2-12)', () => {
    const world = clusterOf({
      taker: { guaranteed: both(4, 8), pods: times(1, both(1, 2)) },
      'over-cpu': { guaranteed: both(0, 0), pods: times(5, both(1, 1)) },
      over: { guaranteed: both(0, 0), pods: times(1, both(2, 9)) },
    });
    expect(taken(world, by, both(2, 4))).toEqual(expect.arrayContaining(['over']));
  });
});

/** Each choice of some of the pods. */
function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.reduce<readonly (readonly T[])[]>((all, item) => [...all, ...all.map((some) => [...some, item])], [[]]);
}

const TYPES = ['cpu', 'memory'] as const;
const amount = (amounts: QueueAmounts, type: string) => Number(amounts.get(type) ?? 0);
const anAmount = fc.record({ cpu: fc.nat(4), memory: fc.nat(4) }).map((each) => both(each.cpu, each.memory));
const aShop = fc.record({ guaranteed: anAmount, pods: fc.array(anAmount, { maxLength: 3 }) });

test.each(['Guarantees', 'Shares'] as const)(
  'by %s, a queue under a guarantee that is short gets room exactly where some pods free it above the guarantees that are short',
  (by) => {
    fc.assert(
      fc.property(fc.record({ taker: aShop, over: aShop, third: aShop }), anAmount, (shops, requests) => {
        const world = clusterOf(shops);
        const inUse = (name: string, type: string) =>
          world.pods.filter((each) => each.queue === name).reduce((sum, each) => sum + amount(each.requests, type), 0);
        const promised = (name: keyof typeof shops, type: string) => amount(shops[name].guaranteed, type);
        const names = ['taker', 'over', 'third'] as const;
        const total = (type: string) => amount(ROOM, type);
        const isShort = (type: string) =>
          names.reduce((sum, name) => {
            const more = name === 'taker' ? amount(requests, type) : 0;
            return sum + Math.max(inUse(name, type) + more, promised(name, type));
          }, 0) > total(type);
        const isUnder = TYPES.some(
          (type) => amount(requests, type) > 0 && isShort(type) && inUse('taker', type) < promised('taker', type),
        );
        fc.pre(
          isUnder && TYPES.every((type) => names.reduce((sum, name) => sum + inUse(name, type), 0) <= total(type)),
        );
        const isLawful = (victims: readonly RunningPod[]) => {
          const lost = (name: string, type: string) =>
            victims.filter((each) => each.queue === name).reduce((sum, each) => sum + amount(each.requests, type), 0);
          return TYPES.every((type) => {
            const held = names.reduce((sum, name) => sum + inUse(name, type) - lost(name, type), 0);
            const fits = amount(requests, type) === 0 || held + amount(requests, type) <= total(type);
            const keeps = names.every(
              (name) =>
                lost(name, type) === 0 ||
                !isShort(type) ||
                inUse(name, type) - lost(name, type) >= promised(name, type),
            );
            return fits && keeps;
          });
        };
        const others = world.pods.filter((each) => each.queue !== 'taker');
        const isPossible = subsets(others).some(isLawful);
        const found = taken(world, by, requests);
        const isFound = Array.isArray(found) || found.includes('fits');
        expect(isFound).toBe(isPossible);
      }),
      { numRuns: 2_000 },
    );
  },
);
