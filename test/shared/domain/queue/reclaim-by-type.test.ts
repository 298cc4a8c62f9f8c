import { describe, expect, test } from 'vitest';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { decideReclaim } from '#shared/domain/queue/reclaim.ts';
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
    ...{ tree, usage: sumUsage(tree, ownUsage(pods)), now: 0, budgets: new Map() },
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
