import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import {
  type VictimCandidate,
  leastSize,
  type Profile,
  smallestSet,
  type VictimSearch,
} from '#shared/domain/queue/victim-set.ts';
import { running } from './builders.ts';

interface CandidateFields extends Partial<Profile>, Partial<Pick<RunningPod, 'budgets'>> {}

function candidate(name: string, { gives = [], costs = [], budgets = [] }: CandidateFields): VictimCandidate {
  return { pod: running(name, 'giver', { budgets }), profile: { gives, costs } };
}

/** So many alike, numbered from 0. */
function many(prefix: string, count: number, fields: CandidateFields): readonly VictimCandidate[] {
  return Array.from({ length: count }, (_, index) => candidate(`${prefix}${index}`, fields));
}

function search(candidates: readonly VictimCandidate[], change: Partial<VictimSearch>): VictimSearch {
  const limits = { needs: [1], reserves: [], budgets: new Map<string, number>(), maxSize: Infinity };
  const work = { stepsLeft: Infinity };
  return { candidates, ...limits, accepts: () => true, work, areProfilesEqual: false, ...change };
}

function namesOf(victims: readonly RunningPod[] | undefined): string | undefined {
  return victims?.map(({ name }) => name).join(' ');
}

describe('a smallest set', () => {
  const small = candidate('small', { gives: [1] });
  const guarded = candidate('guarded', { gives: [2], budgets: ['pdb'] });
  const costly = candidate('costly', { gives: [2], costs: [[0, 3]] });
  const large = candidate('large', { gives: [2] });

  test.each<readonly [string, readonly VictimCandidate[], Partial<VictimSearch>, string | undefined]>([
    ['is one pod where one is enough', [small, large], { needs: [2] }, 'large'],
    ['is the first of those that are enough', [small, large], { needs: [1] }, 'small'],
    ['leaves a pod whose budget is spent', [guarded, large], { needs: [2], budgets: new Map([['pdb', 0]]) }, 'large'],
    ['takes a pod whose budget is not limited', [guarded, large], { needs: [2] }, 'guarded'],
    ['takes no queue below its guarantee', [costly, large], { needs: [2], reserves: [2] }, 'large'],
    ['is none where all of them are too few', [small, large], { needs: [4] }, undefined],
    ['is none where it would be larger than another', [small, large], { needs: [3], maxSize: 1 }, undefined],
    ['is one that is accepted', [small, large], { accepts: (victims) => namesOf(victims) === 'large' }, 'large'],
  ])('%s', (_, candidates, change, expected) => {
    expect(namesOf(smallestSet(search(candidates, change)))).toBe(expected);
  });

  test('fewer pods than the largest of them allow are not tried', () => {
    const three = [small, large, candidate('other', { gives: [2] })];
    expect([1, 2, 3, 5, 6].map((need) => leastSize(three, [need]))).toEqual([1, 1, 2, 3, Infinity]);
  });
});

/**
 * Two needs of 6, and each pod serves one of them: no set of less than twelve pods will do, and it takes many more than a
 * hundred steps to see that.
 */
describe('with no work left', () => {
  const SPENT = { needs: [6, 6], work: { stepsLeft: 0 } };
  const ofFirst = many('x', 12, { gives: [1, 0] });
  const ofSecond = many('y', 12, { gives: [0, 1] });
  const Y = 'y0 y1 y2 y3 y4 y5';

  test.each<readonly [string, readonly VictimCandidate[], Partial<VictimSearch>, string | undefined]>([
    ['nobody goes whom the others make needless', [...ofFirst, ...ofSecond], {}, `x0 x1 x2 x3 x4 x5 ${Y}`],
    ['every pod is looked at, the last one too', [...ofFirst, ...ofSecond.slice(0, 6)], {}, `x0 x1 x2 x3 x4 x5 ${Y}`],
    ['a set of the size of another will do', [...ofFirst, ...ofSecond], { maxSize: 12 }, `x0 x1 x2 x3 x4 x5 ${Y}`],
    ['a set that is larger than another is none', [...ofFirst, ...ofSecond], { maxSize: 11 }, undefined],
    ['a set that is not accepted is none', [...ofFirst, ...ofSecond], { accepts: () => false }, undefined],
    [
      'a pod whose budget is spent stays',
      [candidate('guarded', { gives: [1, 0], budgets: ['pdb'] }), ...ofFirst, ...ofSecond],
      { budgets: new Map([['pdb', 0]]) },
      `x0 x1 x2 x3 x4 x5 ${Y}`,
    ],
    [
      'no queue falls below its guarantee',
      [...ofFirst, ...many('y', 12, { gives: [0, 1], costs: [[0, 1]] })],
      { reserves: [5] },
      undefined,
    ],
  ])('%s', (_, candidates, change, expected) => {
    expect(namesOf(smallestSet(search(candidates, { ...SPENT, ...change })))).toBe(expected);
  });

  test('searches of one decision share its work', () => {
    const work = { stepsLeft: 1_000 };
    smallestSet(search([...ofFirst, ...ofSecond], { ...SPENT, work }));
    expect(work.stepsLeft).toBeLessThanOrEqual(0);
  });
});

const drawnCandidate = fc
  .record({ gives: fc.tuple(fc.nat(3), fc.nat(3)), cost: fc.nat(2), isGuarded: fc.boolean() })
  .map(({ gives, cost, isGuarded }) => ({ gives, costs: [[0, cost]] as const, budgets: isGuarded ? ['pdb'] : [] }));
const drawnSearch = fc
  .record({
    fields: fc.array(drawnCandidate, { maxLength: 9 }),
    needs: fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 9 })),
    reserve: fc.nat(9),
    allowed: fc.nat(4),
    stepsLeft: fc.constantFrom(0, Infinity),
  })
  .map(({ fields, needs, reserve, allowed, stepsLeft }) => {
    const candidates = fields.map((each, index) => candidate(`${index}`, each));
    const limits = { needs, reserves: [reserve], budgets: new Map([['pdb', allowed]]) };
    return search(candidates, { ...limits, work: { stepsLeft } });
  });

function sum(numbers: readonly (number | bigint | undefined)[]): number {
  return numbers.reduce<number>((all, each) => all + Number(each ?? 0), 0);
}

function isEnough({ needs }: VictimSearch, set: readonly VictimCandidate[]): boolean {
  return needs.every((need, index) => sum(set.map(({ profile }) => profile.gives[index])) >= need);
}

function isLawful({ reserves, budgets }: VictimSearch, set: readonly VictimCandidate[]): boolean {
  const cost = sum(set.map(({ profile }) => profile.costs[0]?.[1]));
  return (
    cost <= Number(reserves[0]) && set.filter(({ pod }) => pod.budgets.length > 0).length <= (budgets.get('pdb') ?? 0)
  );
}

/** The size of the smallest set of all that are enough and lawful. */
function fewest(asked: VictimSearch): number {
  const { candidates } = asked;
  const sizes = Array.from({ length: 2 ** candidates.length }, (_, bits) => {
    const set = candidates.filter((__, index) => Math.floor(bits / 2 ** index) % 2 === 1);
    return isEnough(asked, set) && isLawful(asked, set) ? set.length : Infinity;
  });
  return Math.min(...sizes);
}

describe('of many searches', () => {
  test('a set is enough, keeps to guarantees and budgets, and needs each of its pods', () => {
    fc.assert(
      fc.property(drawnSearch, (asked) => {
        const names = new Set(smallestSet(asked)?.map(({ name }) => name));
        const set = asked.candidates.filter(({ pod }) => names.has(pod.name));
        if (set.length === 0) return;
        expect([isEnough(asked, set), isLawful(asked, set)]).toEqual([true, true]);
        for (const each of set)
          expect(
            isEnough(
              asked,
              set.filter((other) => other !== each),
            ),
          ).toBe(false);
      }),
      { seed: 20_261_126, numRuns: 1_000 },
    );
  });

  test('with work enough it is of the smallest size, and none is missed', () => {
    fc.assert(
      fc.property(drawnSearch, (asked) => {
        const found = smallestSet({ ...asked, work: { stepsLeft: Infinity } });
        expect(found?.length ?? Infinity).toBe(fewest(asked));
      }),
      { seed: 20_261_126, numRuns: 300 },
    );
  });
});
