import { describe, expect, test } from 'vitest';
import type { AllocatedPod, Allocations, QueueAllocation } from '#shared/domain/queue/allocation.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { moveToDeserved, twoStagePass } from '#shared/domain/queue/two-stage.ts';
import { cpu, running } from './builders.ts';

const NOTHING: QueueAmounts = new Map();

function allocation(name: string, change: Partial<QueueAllocation>): QueueAllocation {
  return { name, deserved: NOTHING, allocated: NOTHING, pods: [], ...change };
}

function state(total: QueueAmounts, queues: readonly QueueAllocation[], budgets: Allocations['budgets'] = new Map()) {
  return { total, queues, transfers: [], budgets };
}

/** Of CPU, by queue. */
function allocatedIn({ queues }: Allocations): Readonly<Record<string, unknown>> {
  return Object.fromEntries(queues.map(({ name, allocated }) => [name, allocated.get('cpu')]));
}

describe('what moves without a removal', () => {
  test('what was given to no queue goes to those that lack it, up to what they deserve (S4-5)', () => {
    const given = state(cpu(9), [
      allocation('a', { deserved: cpu(2) }),
      allocation('b', { deserved: cpu(3), allocated: cpu(1) }),
    ]);
    const { after, victims } = twoStagePass(given);
    expect([allocatedIn(after), victims]).toEqual([{ a: 2, b: 3 }, []]);
  });

  test('a queue that deserves none of a type gives all of it to one that was given none', () => {
    const given = state(cpu(2), [allocation('a', { allocated: cpu(2) }), allocation('b', { deserved: cpu(2) })]);
    expect(allocatedIn(twoStagePass(given).after)).toEqual({ a: 0, b: 2 });
  });
});

describe('who goes', () => {
  test('only pods that ask for the type that is above what its queue deserves (S4-4)', () => {
    const both = (cpus: number, memory: number): QueueAmounts => new Map([...cpu(cpus), ['memory', memory]]);
    const pods = [
      running('m', 'a', { requests: new Map([['memory', 4]]), priority: -1 }),
      ...['c0', 'c1', 'c2', 'c3'].map((name) => running(name, 'a')),
    ];
    const given = state(both(4, 4), [
      allocation('a', { deserved: both(2, 4), allocated: both(4, 4), pods }),
      allocation('b', { deserved: cpu(2) }),
    ]);
    const { after, victims } = moveToDeserved(given);
    expect(new Set(victims.map(({ pod }) => pod.name))).toEqual(new Set(['c0', 'c1']));
    expect(after.transfers).toMatchObject([{ from: 'a', to: 'b', amounts: cpu(2) }]);
    expect(after.queues[0]?.allocated).toEqual(both(2, 4));
  });

  test('as many as budgets let go where not all that is needed can come free (D-21)', () => {
    const guarded = (name: string, budget: string): AllocatedPod => running(name, 'a', { budgets: [budget] });
    const pods = [guarded('x', 'pdb'), guarded('y', 'pdb'), guarded('z', 'no-limit')];
    const queues = [allocation('a', { allocated: cpu(3), pods }), allocation('b', { deserved: cpu(3) })];
    const { after, victims } = moveToDeserved(state(cpu(3), queues, new Map([['pdb', 1]])));
    expect(victims.map(({ pod }) => pod.name)).toEqual(['x', 'z']);
    expect(after.transfers).toEqual([{ from: 'a', to: 'b', amounts: cpu(2), victims: ['x', 'z'] }]);
    expect(allocatedIn(after)).toEqual({ a: 1, b: undefined });
  });
});
