import { describe, expect, test } from 'vitest';
import { createWriteBudget, createWriteRate } from '#scheduler/nodes/pass-ports.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const PER_MINUTE = 60;
const PASS_MS = 1_000;
const same = (node: string): string => node;

describe('createWriteRate', () => {
  test('gives a minute of writes at once, then one at a time', async () => {
    const clock = manualClock();
    const take = createWriteRate(2, clock);
    expect([take(), take(), take()]).toEqual([true, true, false]);
    await clock.advance(30_000);
    expect([take(), take()]).toEqual([true, false]);
  });
});

describe('createWriteBudget', () => {
  test('nodes keep their order until one was written, which comes last then', () => {
    const budget = createWriteBudget(PER_MINUTE, manualClock());
    expect(budget.inTurn(['c', 'a', 'b'], same)).toEqual(['c', 'a', 'b']);
    budget.take('a');
    budget.take('c');
    expect(budget.inTurn(['c', 'a', 'b'], same)).toEqual(['b', 'a', 'c']);
    budget.take('a');
    expect(budget.inTurn(['c', 'a', 'b'], same)).toEqual(['b', 'c', 'a']);
  });

  test('nodes that are written in every pass leave room for all others', async () => {
    const clock = manualClock();
    const budget = createWriteBudget(PER_MINUTE, clock);
    const waiting = new Set(['n1', 'n2', 'n3']);
    while (budget.take('busy-1'));
    for (let pass = 0; pass < 5; pass += 1) {
      await clock.advance(PASS_MS);
      for (const node of budget.inTurn(['busy-1', 'busy-2', ...waiting], same)) {
        if (budget.take(node)) waiting.delete(node);
      }
    }
    expect([...waiting]).toEqual([]);
  });

  test('remembers no more nodes than the largest cluster has', () => {
    const budget = createWriteBudget(6_000, manualClock());
    for (let index = 0; index <= 5_000; index += 1) budget.take(`n${index}`);
    expect(budget.inTurn(['n0', 'new'], same)).toEqual(['n0', 'new']);
    expect(budget.inTurn(['n1', 'new'], same)).toEqual(['new', 'n1']);
  });

  test('a node that was refused keeps its turn', () => {
    const budget = createWriteBudget(1, manualClock());
    expect([budget.take('a'), budget.take('b')]).toEqual([true, false]);
    expect(budget.inTurn(['a', 'b'], same)).toEqual(['b', 'a']);
  });
});
