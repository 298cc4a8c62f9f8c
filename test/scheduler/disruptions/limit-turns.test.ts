import { describe, expect, test } from 'vitest';
import { LimitTurns } from '#scheduler/disruptions/limit-turns.ts';

const PERIOD_MS = 10_000;
const MAX_COUNTS = 20;

interface Limit {
  readonly name: string;
}

function limitsOf(count: number): readonly Limit[] {
  return Array.from({ length: count }, (_, index) => ({ name: `limit-${index}` }));
}

/** The turns of so many passes, a second apart; `changed` says which accounts have changed before each. */
function turnsOf(
  limits: Readonly<Record<string, readonly Limit[]>>,
  passes: number,
  changed: (pass: number) => readonly string[] = () => [],
) {
  const turns = new LimitTurns<Limit>({ periodMs: PERIOD_MS, most: MAX_COUNTS });
  const known = new Map(Object.entries(limits));
  return Array.from({ length: passes }, (_, pass) => turns.next(known, changed(pass), pass * 1_000));
}

function namesOf(turns: ReturnType<typeof turnsOf>, namespace: string): readonly string[] {
  return turns.flatMap((turn) => (turn?.namespace === namespace ? turn.limits.map(({ name }) => name) : []));
}

describe('whose limits are reported next', () => {
  test.each([1, 19, 20, 21, 40, 41, 200])(
    'all of %s limits after as many turns of twenty as they fill, then none for the period',
    (count) => {
      const needed = Math.ceil(count / MAX_COUNTS);
      const turns = turnsOf({ shop: limitsOf(count) }, needed + 1);
      expect(namesOf(turns, 'shop').toSorted()).toEqual(
        limitsOf(count)
          .map(({ name }) => name)
          .toSorted(),
      );
      expect(turns.every((turn) => (turn?.limits.length ?? 0) <= MAX_COUNTS)).toBe(true);
      expect(turns.at(-1)).toBe(undefined);
    },
  );

  test('an account that changes all the time keeps none of its own limits waiting', () => {
    const turns = turnsOf({ shop: limitsOf(50) }, 6, () => ['shop']);
    expect(new Set(namesOf(turns.slice(0, 3), 'shop')).size).toBe(50);
    expect(new Set(namesOf(turns.slice(3, 6), 'shop')).size).toBe(50);
  });

  test('a namespace whose account changes all the time takes at most every second turn from those that wait', () => {
    const others = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`quiet-${index}`, limitsOf(1)]));
    const turns = turnsOf({ noisy: limitsOf(1_000), ...others }, 18, () => ['noisy']);
    expect(turns.filter((turn) => turn?.namespace === 'noisy')).toHaveLength(9);
    expect(new Set(turns.map((turn) => turn?.namespace)).size).toBe(10);
  });

  test('namespaces whose accounts change all the time take turns', () => {
    const turns = turnsOf({ a: limitsOf(1_000), b: limitsOf(30), c: limitsOf(1) }, 6, () => ['a', 'b', 'c']);
    expect(turns.map((turn) => turn?.namespace)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('a change is reported before a namespace that only waits for its period', () => {
    const limits = { a: limitsOf(1), b: limitsOf(1), c: limitsOf(1) };
    const turns = turnsOf(limits, 5, (pass) => (pass === 3 ? ['b'] : []));
    expect(turns.map((turn) => turn?.namespace)).toEqual(['a', 'b', 'c', 'b', undefined]);
  });

  test('one that cannot be read waits for its period, and deleted limits are forgotten', () => {
    const turns = new LimitTurns<Limit>({ periodMs: PERIOD_MS, most: MAX_COUNTS });
    const known = new Map([['shop', limitsOf(50)]]);
    turns.next(known, [], 0);
    turns.failed('shop');
    expect(turns.next(known, [], 1_000)).toBe(undefined);
    expect(turns.next(new Map(), ['shop'], 2_000)).toBe(undefined);
    expect(turns.next(known, [], 3_000)?.limits).toEqual(limitsOf(MAX_COUNTS));
  });
});
