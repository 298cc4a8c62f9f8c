import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lostWith, type RunningGang, spareMembers } from '#shared/domain/gang/gang-cost.ts';

const gang = (min: number, ...running: readonly string[]): RunningGang<string> => ({ key: 'shop/train', min, running });
const lost = (taken: readonly string[], ...gangs: readonly RunningGang<string>[]) =>
  lostWith(taken, (member) => gangs.find(({ running }) => running.includes(member)));

test.each<[string, readonly string[], RunningGang<string>, readonly string[]]>([
  ['a pod of no gang costs itself', ['x'], gang(3, 'a', 'b', 'c'), []],
  ['one of all: the others too', ['a'], gang(3, 'a', 'b', 'c'), ['b', 'c']],
  ['one that the gang can spare', ['a'], gang(2, 'a', 'b', 'c'), []],
  ['one more than it can spare', ['a', 'b'], gang(2, 'a', 'b', 'c'), ['c']],
  ['all of them: nothing more', ['a', 'b'], gang(2, 'a', 'b'), []],
  ['a gang below its minimum has nothing to lose as a whole', ['a'], gang(3, 'a', 'b'), []],
])('%s', (_, taken, of, expected) => {
  expect(lost(taken, of)).toEqual(expected);
});

test('what is lost is never taken already, and what remains of a gang is its minimum at least or nothing', () => {
  const size = fc.integer({ min: 0, max: 6 });
  fc.assert(
    fc.property(fc.array(fc.tuple(size, fc.integer({ min: 1, max: 6 })), { maxLength: 4 }), fc.nat(), (sizes, seed) => {
      const gangs = sizes.map(([count, min], at) =>
        gang(min, ...Array.from({ length: count }, (__, i) => `${at}-${i}`)),
      );
      const taken = gangs.flatMap(({ running }) => running.filter((name, i) => (seed >> (i + name.length)) % 2 === 1));
      const more = lost(taken, ...gangs);
      const gone = new Set([...taken, ...more]);
      expect(gone.size).toBe(taken.length + more.length);
      for (const each of gangs) {
        const left = each.running.filter((name) => !gone.has(name)).length;
        const wasWhole = spareMembers(each) !== Infinity;
        expect(!wasWhole || left === 0 || left >= each.min).toBe(true);
      }
    }),
    { seed: 48, numRuns: 2_000 },
  );
});
