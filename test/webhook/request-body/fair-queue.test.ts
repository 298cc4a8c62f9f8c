import { describe, expect, test } from 'vitest';
import { type TakenShare, createFairQueue } from '#webhook/request-body/fair-queue.ts';

/** A queue that records its turns by name. */
function line(longest: number) {
  const turns = createFairQueue(longest);
  const begun: string[] = [];
  const entered = new Map<string, TakenShare | undefined>();
  return {
    begun,
    enter: (...names: string[]) => {
      for (const name of names)
        entered.set(
          name,
          turns.enter([name.charAt(0)], () => void begun.push(name)),
        );
    },
    isIn: (name: string) => entered.get(name) !== undefined,
    end: (...names: string[]) => {
      for (const name of names) entered.get(name)?.end();
    },
  };
}

describe('createFairQueue', () => {
  test('starts the first entry at once, and the next when its turn ends', () => {
    const { begun, enter, end } = line(8);
    enter('a1', 'a2');
    expect(begun).toEqual(['a1']);
    end('a1');
    expect(begun).toEqual(['a1', 'a2']);
    end('a2');
    enter('a3');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  test('serves holders in turn, however many entries one has', () => {
    const { begun, enter, end } = line(64);
    enter('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1');
    for (let turn = 0; turn < 8; turn += 1) end(begun[turn] ?? '');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
  });

  test('lets one holder fill half of the queue', () => {
    const { enter, isIn } = line(8);
    enter('a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3');
    expect(['a0', 'a4', 'a5', 'b1', 'b2', 'b3'].map(isIn)).toEqual([true, true, false, true, true, false]);
  });

  test('skips an entry that left the queue, and reuses its slot', () => {
    const { begun, enter, end, isIn } = line(4);
    enter('a0', 'a1', 'a2', 'b1');
    end('a1', 'a1');
    enter('a3');
    expect(isIn('a3')).toBe(true);
    end('a0');
    end('a2');
    end('b1');
    expect(begun).toEqual(['a0', 'a2', 'b1', 'a3']);
  });

  test('ends a turn once', () => {
    const { begun, enter, end } = line(8);
    enter('a1', 'a2', 'a3');
    end('a1', 'a1');
    expect(begun).toEqual(['a1', 'a2']);
  });

  test('continues after an entry that ends as it begins', () => {
    const turns = createFairQueue(8);
    const begun: string[] = [];
    const first = turns.enter(['a'], () => begun.push('first'));
    turns.enter(['a'], (turn) => {
      begun.push('second');
      turn.end();
    });
    turns.enter(['a'], () => begun.push('third'));
    first?.end();
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});
