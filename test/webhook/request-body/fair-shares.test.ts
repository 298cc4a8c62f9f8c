import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFairShares, holdersOf, type TakenShare } from '#webhook/request-body/fair-queue.ts';

const SEED = 20_261_122;

/** Takes shares of 1 for a holder until it gets no more. */
function takeAll(shares: ReturnType<typeof createFairShares>, ...holders: string[]): number {
  let count = 0;
  while (shares.take(holders, 1) !== undefined) count += 1;
  return count;
}

describe('createFairShares', () => {
  test('gives one holder half of everything', () => {
    expect(takeAll(createFairShares(100), 'a')).toBe(50);
  });

  test('gives the next holder half of what is left', () => {
    const shares = createFairShares(100);
    expect([takeAll(shares, 'a'), takeAll(shares, 'b'), takeAll(shares, 'c')]).toEqual([50, 25, 13]);
  });

  test('gives n holders that ask in turn 1/(n+1) each', () => {
    const shares = createFairShares(120);
    const counts = { a: 0, b: 0, c: 0 };
    for (let round = 0; round < 120; round += 1) {
      for (const holder of ['a', 'b', 'c'] as const) counts[holder] += shares.take([holder], 1) === undefined ? 0 : 1;
    }
    expect(counts).toEqual({ a: 30, b: 30, c: 30 });
  });

  test('counts a share for each of its holders', () => {
    const shares = createFairShares(100);
    expect(takeAll(shares, 'namespace a', 'user u')).toBe(50);
    expect(takeAll(shares, 'namespace b', 'user u')).toBe(0);
    expect(takeAll(shares, 'namespace b', 'user v')).toBe(25);
  });

  test('does not limit a share without holders', () => {
    expect(takeAll(createFairShares(10))).toBe(10);
  });

  test('gives one that is larger than half to the first who asks', () => {
    const shares = createFairShares(100);
    expect([shares.take(['a'], 101), shares.take(['a'], 80) !== undefined, shares.take(['b'], 21)]).toEqual([
      undefined,
      true,
      undefined,
    ]);
  });

  test('whatever is taken and given back, in whatever order, nothing is lost and nothing is given twice', () => {
    const action = fc.record({ holder: fc.constantFrom('a', 'b', 'c'), cost: fc.nat(40), end: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
        const shares = createFairShares(100);
        const held: { readonly share: TakenShare; readonly cost: number }[] = [];
        for (const { holder, cost, end } of actions) {
          const share = shares.take([holder], cost);
          if (share !== undefined) held.push({ share, cost });
          expect(held.reduce((sum, each) => sum + each.cost, 0)).toBeLessThanOrEqual(100);
          if (end < held.length)
            for (const { share: over } of held.splice(end, 1)) [over, over].forEach((each) => each.end());
        }
        for (const { share } of held) share.end();
        expect(shares.take(['a'], 100)).toBeDefined();
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});

describe('holdersOf', () => {
  const cases: Record<string, { namespace?: string; username?: string; holders: readonly string[] }> = {
    'a user in a namespace': { namespace: 'a', username: 'alice', holders: ['namespace a', 'user alice'] },
    'a service account of a tenant': {
      namespace: 'a',
      username: 'system:serviceaccount:a:ci',
      holders: ['namespace a', 'user system:serviceaccount:a:ci'],
    },
    'a controller, which acts for every namespace': {
      namespace: 'a',
      username: 'system:serviceaccount:kube-system:replicaset-controller',
      holders: ['namespace a'],
    },
    'the scheduler': { namespace: 'a', username: 'system:kube-scheduler', holders: ['namespace a'] },
    'a user without a namespace': { namespace: '', username: 'alice', holders: ['user alice'] },
    'the scheduler without a namespace': { namespace: '', username: 'system:kube-scheduler', holders: [] },
    'a namespace alone': { namespace: 'a', holders: ['namespace a'] },
    nothing: { holders: ['unknown'] },
  };
  test.each(Object.entries(cases))('%s', (_, { namespace, username, holders }) => {
    expect(holdersOf({ namespace, username })).toEqual(holders);
  });
});
