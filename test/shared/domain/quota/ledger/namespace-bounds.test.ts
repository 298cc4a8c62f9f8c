import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  denialReasonFor,
  largestNamespaces,
  largestShare,
  ledgerPlaces,
  limitedAmounts,
  limitedReservation,
  onlyLimitedAmounts,
  shareOfRoom,
  sumOfKnown,
} from '#shared/domain/quota/ledger/namespace-bounds.ts';
import { type Held, NOTHING_HELD } from '#shared/domain/quota/ledger/ledger-state.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';

const SEED = 20_261_127;
type Texts = Readonly<Record<string, string>>;

describe('shareOfRoom', () => {
  test.each<[string, Texts, Texts, readonly [used: Texts, hard: Texts], number]>([
    ['all of it', { pods: '8' }, {}, [{ pods: '2' }, { pods: '10' }], 1],
    ['half of what is free', { pods: '4' }, {}, [{ pods: '2' }, { pods: '10' }], 0.5],
    ['with what the namespace holds as free', { pods: '4' }, { pods: '2' }, [{ pods: '4' }, { pods: '10' }], 0.5],
    ['of a quarter of the limit where less is free', { pods: '5' }, {}, [{ pods: '95' }, { pods: '100' }], 0.2],
    ['of a quarter where the quota is exceeded', { pods: '5' }, {}, [{ pods: '300' }, { pods: '100' }], 0.2],
    ['at most 1', { pods: '50' }, {}, [{ pods: '90' }, { pods: '100' }], 1],
    ['the largest of two', { pods: '1', cpu: '3' }, {}, [{}, { pods: '10', cpu: '4' }], 0.75],
    ['the largest, in another order', { pods: '6', cpu: '1' }, {}, [{}, { pods: '8', cpu: '4' }], 0.75],
    ['nothing of what is not limited', { cpu: '9' }, {}, [{}, { pods: '10' }], 0],
    ['nothing where nothing is asked for', { pods: '0' }, {}, [{ pods: '0' }, { pods: '0' }], 0],
    ['nothing for less than nothing', { pods: '-5' }, {}, [{}, { pods: '10' }], 0],
  ])('is %s', (_, asked, own, [used, hard], share) => {
    const standing = { used: amountsOf(used), hard: amountsOf(hard) };
    expect(shareOfRoom(amountsOf(asked), amountsOf(own), standing)).toBe(share);
  });
});

describe('denialReasonFor', () => {
  const one = { uid: 'x', namespace: 'a', pod: 'x', amounts: amountsOf({ pods: '1' }), admittedAt: 0 };

  function reasonWith(size: number, places: number, ownCount: number) {
    const reservations = new Map(Array.from({ length: size }, (_each, index) => [`r-${index}`, one]));
    const heldBy = (): Held | undefined => (ownCount === 0 ? undefined : { ...NOTHING_HELD, count: ownCount });
    const [used, hard] = [amountsOf({ pods: '0' }), amountsOf({ pods: '9' })];
    return denialReasonFor(one, { used, hard, reservations, places, heldBy, debts: new Map() })?.kind;
  }

  // A namespace may have half of the places that others leave: of 10 places with 2 taken, 4.
  test.each([
    [5, 10, 3, undefined],
    [6, 10, 4, 'full'],
    [9, 10, 0, 'full'],
    [8, 10, 0, undefined],
    [10, 10, 0, 'full'],
    [4, 10, 4, undefined],
    [5, 10, 5, 'full'],
    [3, 10, 3, undefined],
    [0, 0, 0, 'full'],
  ])('of %s reservations in %s places, %s of them its own: %s', (size, places, own, kind) => {
    expect(reasonWith(size, places, own)).toBe(kind);
  });

  test.each<[string, Texts, Texts, Texts, string | undefined]>([
    ['what fits exactly', { pods: '2' }, { pods: '7' }, { pods: '9' }, undefined],
    ['one too many', { pods: '3' }, { pods: '7' }, { pods: '9' }, 'exceeded'],
    ['an unknown usage', { pods: '1' }, {}, { pods: '9' }, 'unknown'],
    ['an unknown usage of nothing', { pods: '0' }, {}, { pods: '9' }, undefined],
    ['an unknown usage of what is not asked for', { cpu: '1' }, { cpu: '1' }, { pods: '9', cpu: '2' }, undefined],
    ['an excess before what is unknown', { pods: '1', cpu: '5' }, { cpu: '1' }, { pods: '9', cpu: '2' }, 'exceeded'],
    ['less than nothing where all is used', { pods: '-1' }, { pods: '99' }, { pods: '9' }, undefined],
    ['nothing where all is used', { pods: '0' }, { pods: '99' }, { pods: '9' }, undefined],
    ['what is not limited', { cpu: '99' }, { pods: '0' }, { pods: '9' }, undefined],
  ])('of %s', (_, asked, used, hard, kind) => {
    const standing = { reservations: new Map(), places: 10, heldBy: () => undefined, debts: new Map() };
    const reservation = { ...one, amounts: amountsOf(asked) };
    expect(denialReasonFor(reservation, { ...standing, used: amountsOf(used), hard: amountsOf(hard) })?.kind).toBe(
      kind,
    );
  });

  test.each([
    [1, '10', undefined],
    [1.01, '10', 'wasted'],
    [1.5, '5', undefined],
    [1.5, '6', 'wasted'],
    [undefined, '10', undefined],
  ])('with a debt of %s, of %s of ten pods: %s', (debt, pods, kind) => {
    const [used, hard] = [amountsOf({ pods: '0' }), amountsOf({ pods: '10' })];
    const debts = new Map(debt === undefined ? [] : [['a', debt]]);
    const standing = { used, hard, reservations: new Map(), places: 10, heldBy: () => undefined, debts };
    expect(denialReasonFor({ ...one, amounts: amountsOf({ pods }) }, standing)?.kind).toBe(kind);
  });

  test('reports each excess with what is asked, used and allowed', () => {
    const [used, hard] = [amountsOf({ pods: '9', cpu: '1' }), amountsOf({ pods: '9', cpu: '2', memory: '1' })];
    const standing = { used, hard, reservations: new Map(), places: 10, heldBy: () => undefined, debts: new Map() };
    const amounts = amountsOf({ pods: '1', cpu: '2', memory: '0' });
    const reason = denialReasonFor({ ...one, amounts }, standing);
    const named = reason?.kind === 'exceeded' ? reason.exceeded : [];
    expect(named.map(({ resource, ...rest }) => [resource, printAmounts(new Map(Object.entries(rest)))])).toEqual([
      ['pods', { asked: '1', used: '9', hard: '9' }],
      ['cpu', { asked: '2', used: '1', hard: '2' }],
    ]);
  });
});

describe('ledgerPlaces', () => {
  // An entry takes 640 bytes and the name's; the object has 900 KiB, and two times 100 KiB.
  test.each([
    [6, 1_000, 64, 100],
    [384, 900, 64, 100],
    [385, 899, 64, 99],
    [1_380, 456, 50, 50],
    [1_410, 449, 49, 49],
  ])('with one limited resource with a name of %s bytes', (length, reservations, slices, namespaces) => {
    const places = ledgerPlaces(amountsOf({ ['x'.repeat(length)]: '1' }));
    expect(places).toEqual({ reservations, slices, namespaces });
  });

  test('adds up the names of several', () => {
    const hard = amountsOf({ ['x'.repeat(600)]: '1', ['y'.repeat(740)]: '1' });
    expect(ledgerPlaces(hard)).toEqual({ reservations: 456, slices: 50, namespaces: 50 });
  });
});

describe('largestNamespaces', () => {
  test(`is what sorting all of them finds (seed ${SEED})`, () => {
    const shares = fc.dictionary(fc.string({ maxLength: 3 }), fc.constantFrom(0, 0.5, 1, 2, Infinity));
    fc.assert(
      fc.property(shares, fc.integer({ min: 1, max: 6 }), (given, most) => {
        const sorted = Object.entries(given).sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? 1 : -1));
        const expected = sorted.slice(0, most).map(([name]) => name);
        expect(largestNamespaces(new Map(Object.entries(given)), most)).toEqual(expected.sort());
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});

test.each<[Texts, Texts, number]>([
  [{ pods: '1', cpu: '1' }, { pods: '2', cpu: '4' }, 0.5],
  [{ pods: '1', cpu: '3' }, { pods: '2', cpu: '4' }, 0.75],
  [{ pods: '0', cpu: '1' }, { pods: '2', cpu: '0' }, Infinity],
  [{ pods: '0', cpu: '0' }, { pods: '0', cpu: '1' }, 0],
  [{}, {}, 0],
])('largestShare of %j under %j is %s', (used, limits, share) => {
  expect(largestShare([...amountsOf(used).values()], [...amountsOf(limits).values()])).toBe(share);
});

describe('amounts of limited resources', () => {
  test.each<[string, Texts, Texts, Texts, Texts]>([
    ['that are the same', { pods: '1' }, { pods: '9' }, { pods: '1' }, { pods: '1' }],
    ['with another', { pods: '1', cpu: '1' }, { pods: '9' }, { pods: '1' }, { pods: '1' }],
    ['without one', { pods: '1' }, { pods: '9', cpu: '1' }, { pods: '1', cpu: '0' }, { pods: '1' }],
    ['with others instead', { pods: '1' }, { cpu: '1' }, { cpu: '0' }, {}],
  ])('%s', (_, given, hard, limited, onlyLimited) => {
    const amounts = amountsOf(given);
    const reservation = { uid: 'x', namespace: 'a', pod: 'x', amounts, admittedAt: 0 };
    const limits = amountsOf(hard);
    const kept = limitedAmounts(amounts, limits);
    // Nothing is copied where nothing changes: every pod of a busy cluster comes by here.
    const isSame = JSON.stringify(given) === JSON.stringify(limited);
    expect([kept === amounts, limitedReservation(reservation, limits) === reservation]).toEqual([isSame, isSame]);
    expect(printAmounts(kept)).toEqual(limited);
    expect([...kept.keys()].toSorted()).toEqual([...limits.keys()].toSorted());
    expect(printAmounts(limitedReservation(reservation, limits).amounts)).toEqual(limited);
    expect(printAmounts(onlyLimitedAmounts(reservation, limits).amounts)).toEqual(onlyLimited);
  });

  test.each<[readonly Texts[], Texts]>([
    [[], {}],
    [[{ pods: '1' }], { pods: '1' }],
    [[{ pods: '1', cpu: '1' }, { pods: '2' }], { pods: '3' }],
    [[{ pods: '1' }, { pods: '2', cpu: '1' }, { pods: '3', cpu: '1' }], { pods: '6' }],
    [[{ pods: '1' }, {}, { pods: '2' }], {}],
  ])('the known sum of %j is %j', (all, sum) => {
    const parts = all.map((each) => amountsOf(each));
    expect(printAmounts(sumOfKnown(parts))).toEqual(sum);
    expect(parts.map(printAmounts)).toEqual(all);
  });
});
