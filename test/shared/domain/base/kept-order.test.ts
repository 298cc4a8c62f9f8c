import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, KeptOrder } from '#shared/domain/base/steps.ts';

interface Item {
  readonly rank: number;
}

const compareRanks = (a: Item, b: Item): number => a.rank - b.rank;

type Action = readonly ['add', number] | readonly ['remove', number] | readonly ['read'] | readonly ['begin'];

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constant('add' as const), fc.nat(50)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('remove' as const), fc.nat(50)) },
    { weight: 1, arbitrary: fc.constant(['read'] as const) },
    { weight: 1, arbitrary: fc.constant(['begin'] as const) },
  ),
  { maxLength: 60 },
);

function ranksOf(items: readonly Item[]): readonly number[] {
  return items.map(({ rank }) => rank);
}

describe('KeptOrder', () => {
  test('all items are there, in order, whatever came and went and however often reading was given up', () => {
    const holds = (steps: readonly Action[]): void => {
      const order = new KeptOrder(compareRanks);
      const items: Item[] = [];
      for (const [what, number = 0] of steps) {
        if (what === 'add') {
          const item = { rank: number };
          items.push(item);
          order.add(item);
        } else if (what === 'remove' && items.length > 0) {
          order.remove(items.splice(number % items.length, 1)[0] as Item);
        } else if (what === 'begin') order.inOrder().next();
        else expect(ranksOf(finish(order.inOrder()))).toEqual(ranksOf(items.toSorted(compareRanks)));
      }
      expect(ranksOf(finish(order.inOrder()))).toEqual(ranksOf(items.toSorted(compareRanks)));
    };
    fc.assert(fc.property(actions, holds), { seed: 28 });
  });

  test('what changes while it is being read comes the next time', () => {
    const order = new KeptOrder(compareRanks);
    const [first, second] = [{ rank: 1 }, { rank: 2 }];
    order.add(second);
    const reading = order.inOrder();
    reading.next();
    order.remove(second);
    order.add(first);
    expect(finish(reading)).toEqual([second]);
    expect(finish(order.inOrder())).toEqual([first]);
  });

  test('two that read at once take nothing from each other', () => {
    const order = new KeptOrder(compareRanks);
    const [first, second] = [{ rank: 1 }, { rank: 2 }];
    order.add(second);
    const slow = order.inOrder();
    slow.next();
    order.add(first);
    finish(order.inOrder());
    finish(slow);
    expect(finish(order.inOrder())).toEqual([first, second]);
  });

  test('where one of 10,000 has changed, far fewer comparisons are made than for sorting all', () => {
    let compared = 0;
    const order = new KeptOrder<Item>((a, b) => {
      compared += 1;
      return compareRanks(a, b);
    });
    for (let index = 0; index < 10_000; index += 1) order.add({ rank: (index * 7_919) % 10_007 });
    finish(order.inOrder());
    compared = 0;
    order.add({ rank: 5_000 });
    const ranks = ranksOf(finish(order.inOrder()));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    expect(compared).toBeLessThan(30_000);
  });
});
