import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDisplacement,
  type Displacement,
  type LoopPolicy,
  NO_ROUNDS,
  type PreemptionRounds,
  loopBetween,
  loopingParties,
} from '#shared/domain/preemption/loop/preemption-rounds.ts';

const MINUTE = 60_000;
const POLICY: LoopPolicy = { rounds: 3, windowMs: 60 * MINUTE };
const A = 'team/Pod/a';
const B = 'team/Pod/b';

interface Preempting {
  readonly minute: number;
  readonly by: string;
  readonly of: string;
  readonly uid?: string;
  readonly node?: string;
  readonly priority?: number;
}

function displaced(preempting: Preempting): Displacement {
  const { minute, by, of, uid = `${by}-${minute}`, node = 'node-1', priority = 10 } = preempting;
  const victim = { uid: `${of}-${minute}`, party: of };
  return { at: minute * MINUTE, node, preemptor: { uid, party: by }, priority, victim };
}

function after(preemptions: readonly Preempting[], policy = POLICY): PreemptionRounds {
  return preemptions.map(displaced).reduce((rounds, each) => addDisplacement(rounds, each, policy), NO_ROUNDS);
}

function loopAt(minute: number, preemptions: readonly Preempting[], policy = POLICY) {
  return loopBetween(after(preemptions, policy), { preemptor: A, victim: B }, policy, minute * MINUTE);
}

const [first, second, third] = [
  { minute: 1, by: B, of: A },
  { minute: 2, by: A, of: B },
  { minute: 3, by: B, of: A },
];

describe('addDisplacement', () => {
  test('three rounds in turn within an hour are allowed, and the fourth continues a loop of both (S0-21)', () => {
    expect(loopAt(4, [first, second])).toBeUndefined();
    expect(loopAt(4, [first, second, third])).toEqual({
      code: 'PreemptionLoop',
      text: `pods of ${A} and ${B} displace each other: 3 times within 60 min, last on node node-1`,
      facts: { preemptor: A, victim: B, rounds: 3, node: 'node-1' },
    });
  });

  test.each([
    ['several victims of one preemption, or a growing Deployment', 0, 1],
    ['victims that were created since, however fast', 4_000, 3],
  ])('of a pod that preempts again on its node, %s are so many rounds', (_, sinceMs, rounds) => {
    const displacements = [0, 5_000, 10_000].map((at) => {
      return { ...displaced({ minute: 0, by: A, of: B }), at, victimCreatedAt: at - 5_000 + sinceMs };
    });
    const all = displacements.reduce((so, each) => addDisplacement(so, each, POLICY), NO_ROUNDS);
    expect([...all.values()].map(({ length }) => length)).toEqual([rounds]);
  });

  test('the loop ends by itself when its first round is an hour old', () => {
    const rounds = [first, second, third];
    expect([60, 61].map((minute) => loopAt(minute, rounds) !== undefined)).toEqual([true, false]);
    expect(loopingParties(after(rounds), POLICY)).toEqual({ parties: new Set([A, B]), until: 61 * MINUTE });
  });

  test('no party is in a loop before the last round that is allowed', () => {
    expect(loopingParties(after([first, second]), POLICY)).toEqual({ parties: new Set(), until: -Infinity });
  });

  test('a pair is one whichever side preempts', () => {
    const rounds = after([first, second, third]);
    expect(loopBetween(rounds, { preemptor: B, victim: A }, POLICY, 4 * MINUTE)?.facts).toMatchObject({ preemptor: B });
    expect(loopBetween(rounds, { preemptor: A, victim: 'team/Pod/c' }, POLICY, 4 * MINUTE)).toBeUndefined();
  });

  test('an owner that grows and displaces one pod after the other is in its first round', () => {
    const growing = [1, 2, 3, 4, 5].map((minute) => ({ minute, by: A, of: B }));
    expect(loopAt(6, growing)).toBeUndefined();
  });

  test('a pod that makes room on one node again and again, because the room is taken, is a loop', () => {
    const again = [1, 2, 3].map((minute) => ({ minute, by: A, of: B, uid: 'same' }));
    expect(loopAt(4, again)?.facts).toMatchObject({ rounds: 3 });
  });

  test.each<[string, readonly Preempting[]]>([
    ['on other nodes', ['n1', 'n2', 'n3'].map((node, minute) => ({ minute, by: A, of: B, uid: 'same', node }))],
    ['of one preemption', [1, 1.2, 1.4].map((minute) => ({ minute, by: A, of: B, uid: 'same' }))],
  ])('victims of one pod %s are one round', (_, preemptions) => {
    expect(loopAt(4, preemptions)).toBeUndefined();
  });

  test('a round is of the highest priority that displaced in it', () => {
    const growing = [5, 9, 7].map((priority, minute) => ({ minute, by: A, of: B, priority }));
    expect([...after(growing).values()]).toMatchObject([[{ priority: 9 }]]);
  });

  test('pods of one owner that displace each other are no pair', () => {
    expect(after([1, 2, 3, 4].map((minute) => ({ minute, by: A, of: A })))).toEqual(NO_ROUNDS);
  });

  test('it never holds more than it may, nor anything older than the window', () => {
    const party = fc.integer({ min: 0, max: 40 }).map(String);
    const preemption = fc.record({ minute: fc.integer({ min: 0, max: 300 }), by: party, of: party });
    fc.assert(
      fc.property(fc.array(preemption, { maxLength: 60 }), (unordered) => {
        const inOrder = unordered.toSorted((left, right) => left.minute - right.minute);
        const rounds = after(inOrder);
        const last = inOrder.at(-1)?.minute ?? 0;
        for (const own of rounds.values()) {
          expect(own.length).toBeLessThanOrEqual(POLICY.rounds);
          expect(own.every(({ at }) => at > last * MINUTE - POLICY.windowMs)).toBe(true);
        }
      }),
    );
  });

  test('of too many pairs it forgets those whose last round is the oldest', () => {
    const pairs = Array.from({ length: 1_001 }, (_, index) => ({ minute: index / 1_000, by: A, of: `b-${index}` }));
    const rounds = after(pairs);
    expect([rounds.size, JSON.parse([...rounds.keys()][0] ?? '')]).toEqual([1_000, ['b-1', A].sort()]);
  });
});
