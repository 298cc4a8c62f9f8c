import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { addQuantities, compareQuantities, multiplyQuantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import {
  covers,
  EMPTY_LEDGER,
  type LedgerState,
  sizeSlice,
  type Slice,
} from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import {
  isHeldElsewhere,
  type OwnShare,
  placeSlice,
  requestRecall,
  withoutFree,
  withSlice,
} from '#shared/domain/quota/ledger/slices.ts';
import { amountsOf } from '#test/build/cluster.ts';

const MAX_RESERVATIONS = 1_000;
const LARGEST = amountsOf({ pods: '1', memory: '1Gi', cpu: '500m' });
const HARD = amountsOf({ pods: '1000', memory: '1000Gi' });

function slice(holder: string, memory: string, recallRequested = false): Slice {
  return { holder, amounts: amountsOf({ memory }), renewals: 1, recallRequested };
}

function print(amounts: LedgerState['used'] = new Map()) {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}

function state(fields: Partial<LedgerState>): LedgerState {
  return { ...EMPTY_LEDGER, ...fields };
}

describe('sizeSlice', () => {
  test.each<[string, number, Record<string, string>, number | undefined]>([
    ['twice what was asked for lately', 10, { pods: '1000', memory: '1000Gi' }, 20],
    ['an eighth of the scarcest room', 10, { pods: '1000', memory: '80Gi' }, 10],
    ['nothing where that is room for less than four pods', 10, { memory: '31Gi' }, undefined],
    ['nothing of a quota that is exceeded', 10, { memory: '-1Gi' }, undefined],
    ['nothing with little demand', 1, { memory: '1000Gi' }, undefined],
    ['as much as was asked for where no pod costs what is limited', 10, { 'requests.example.com/gpu': '8' }, 20],
  ])('is %s', (_, pods, room, expected) => {
    expect(sizeSlice({ pods, largest: LARGEST }, amountsOf(room))?.pods).toBe(expected);
  });

  test('holds every resource, limited or not, of so many of the largest pods', () => {
    const grant = sizeSlice({ pods: 10, largest: LARGEST }, HARD);
    expect(print(grant?.amounts)).toEqual({ pods: '20', memory: '20Gi', cpu: '10' });
  });

  test('never takes more than an eighth of the room', () => {
    const anyAmount = fc.integer({ min: 1, max: 2 ** 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), anyAmount, anyAmount, (pods, cost, free) => {
        const room = amountsOf({ memory: String(free) });
        const grant = sizeSlice({ pods, largest: amountsOf({ memory: String(cost) }) }, room);
        const taken = multiplyQuantity(grant?.amounts.get('memory') ?? ZERO, 8);
        expect(compareQuantities(taken, room.get('memory') ?? ZERO)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('multiplyQuantity', () => {
  test('is adding again and again, also beyond what a number holds', () => {
    const anyAmount = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((value) => amountsOf({ x: String(value) }));
    fc.assert(
      fc.property(anyAmount, fc.integer({ min: 0, max: 20 }), (amounts, by) => {
        const amount = amounts.get('x') ?? ZERO;
        const sum = Array.from({ length: by }).reduce<typeof ZERO>((total) => addQuantities(total, amount), ZERO);
        expect(compareQuantities(multiplyQuantity(amount, by), sum)).toBe(0);
      }),
    );
  });
});

describe('covers', () => {
  test.each<[string, Record<string, string>, Record<string, string>, boolean]>([
    ['exactly what is there', { memory: '1Gi' }, { memory: '1Gi' }, true],
    ['less', { memory: '1Gi', pods: '3' }, { pods: '1' }, true],
    ['more of one resource', { memory: '1Gi', pods: '3' }, { memory: '2Gi', pods: '1' }, false],
    ['a resource of which nothing is there', { memory: '1Gi' }, { pods: '1' }, false],
    ['nothing of a resource that is not there', { memory: '1Gi' }, { pods: '0' }, true],
  ])('says of asking for %s: %s', (_, free, asked, expected) => {
    expect(covers(amountsOf(free), amountsOf(asked))).toBe(expected);
  });
});

describe('slices in a ledger', () => {
  const before = state({ used: amountsOf({ memory: '10Gi' }), slices: new Map([['a', slice('a', '4Gi')]]) });

  test.each<[string, Slice, string, readonly string[]]>([
    ['a new one', slice('b', '3Gi'), '13Gi', ['a', 'b']],
    ['a larger one', slice('a', '5Gi'), '11Gi', ['a']],
    ['a smaller one', slice('a', '1Gi'), '7Gi', ['a']],
    ['one of nothing', { ...slice('a', '0'), amounts: new Map() }, '6Gi', []],
  ])('%s moves used by the difference', (_, placed, memory, holders) => {
    const after = withSlice(before, placed);
    expect({ used: print(after.used), holders: [...after.slices.keys()] }).toEqual({ used: { memory }, holders });
  });

  test('recalls the slices of all other holders once', () => {
    const asked = requestRecall(withSlice(before, slice('b', '1Gi')), 'b');
    expect([...asked.slices.values()].map(({ recallRequested }) => recallRequested)).toEqual([true, false]);
    expect(requestRecall(asked, 'b')).toBe(asked);
  });

  test.each<[string, string, string | undefined, boolean]>([
    ['needs no more than others hold', '4Gi', undefined, true],
    ['needs more', '5Gi', undefined, false],
    ['needs what it holds itself', '4Gi', 'a', false],
  ])('are in the way of a request that %s: %s', (_, asked, holder, expected) => {
    const [used, hard] = [before.used.get('memory') ?? ZERO, amountsOf({ memory: '10Gi' }).get('memory') ?? ZERO];
    const excess = { resource: 'memory', asked: amountsOf({ memory: asked }).get('memory') ?? ZERO, used, hard };
    expect(isHeldElsewhere([excess], before, holder)).toBe(expected);
  });
});

test.each<[string, readonly (readonly [resource: string, asked: string])[], boolean]>([
  [
    'one of two resources',
    [
      ['memory', '4Gi'],
      ['pods', '9'],
    ],
    false,
  ],
  [
    'both',
    [
      ['memory', '4Gi'],
      ['pods', '4'],
    ],
    true,
  ],
  ['a resource of which no slice holds anything', [['cpu', '1']], false],
])('slices of others would make room for %s: all that is asked for counts', (_, asked, expected) => {
  const slices = new Map([['a', { ...slice('a', '4Gi'), amounts: amountsOf({ memory: '4Gi', pods: '4' }) }]]);
  const full = amountsOf({ memory: '10Gi', pods: '10', cpu: '1' });
  const excesses = asked.map(([resource, amount]) => {
    const held = full.get(resource) ?? ZERO;
    return { resource, asked: amountsOf({ it: amount }).get('it') ?? ZERO, used: held, hard: held };
  });
  expect(isHeldElsewhere(excesses, state({ used: full, slices }), undefined)).toBe(expected);
});

describe('placeSlice', () => {
  const spent = ['x', 'y'].map((uid) => ({ uid, namespace: 'a', pod: uid, amounts: LARGEST, admittedAt: 0 }));
  const own: OwnShare = {
    holder: 'a',
    isStored: true,
    renewals: 2,
    spent,
    demand: { pods: 10, largest: LARGEST },
  };
  const standing = state({
    used: amountsOf({ memory: '30Gi', pods: '30' }),
    slices: new Map([['a', { ...slice('a', '10Gi'), amounts: amountsOf({ memory: '10Gi', pods: '10' }) }]]),
  });

  function place(share: OwnShare, before = standing, hard = HARD) {
    const placed = placeSlice(withoutFree(before, share), hard, share);
    return placed && { ...placed, state: undefined, used: print(placed.state.used), after: placed.state };
  }

  test('adds what may be spent to what was', () => {
    const placed = place(own);
    expect(placed).toMatchObject({ used: { memory: '42Gi', pods: '42' }, pods: 20, adopted: [], isGivenBack: false });
    expect(print(placed?.after.slices.get('a')?.amounts)).toEqual({ memory: '22Gi', pods: '22' });
  });

  test.each<[string, OwnShare, typeof HARD]>([
    ['when none is needed', { ...own, demand: undefined }, HARD],
    ['when there is too little room', own, amountsOf({ memory: '40Gi', pods: '1000' })],
  ])('takes it apart into reservations %s', (_, share, hard) => {
    expect(place(share, standing, hard)).toMatchObject({
      used: { memory: '22Gi', pods: '22' },
      adopted: ['x', 'y'],
      isGivenBack: true,
      after: { slices: new Map() },
    });
  });

  test('keeps what finds no place among the reservations', () => {
    const [first] = spent;
    const reservations = Array.from({ length: MAX_RESERVATIONS - 1 }, (_, index) => `r-${index}`);
    const crowded = {
      ...standing,
      reservations: new Map(reservations.map((uid) => [uid, { ...first, uid, pod: uid } as (typeof spent)[number]])),
    };
    const placed = place({ ...own, demand: undefined }, crowded);
    expect(placed).toMatchObject({ used: { memory: '22Gi' }, adopted: ['x'], isGivenBack: false, pods: 0 });
    expect(print(placed?.after.slices.get('a')?.amounts)).toMatchObject({ memory: '1Gi' });
    expect(placed?.after.slices.get('a')?.recallRequested).toBe(false);
  });

  test('does nothing for a replica that has no slice and needs none', () => {
    const none = { ...own, isStored: false, spent: [], demand: undefined };
    expect(place(none, state({ used: amountsOf({ memory: '1Gi' }) }))).toBeUndefined();
  });

  test('makes a reservation of a single charge to a slice that was lost', () => {
    const lost = { ...own, isStored: false, spent: spent.slice(0, 1), demand: undefined };
    const placed = place(lost, state({ used: amountsOf({ memory: '1Gi', pods: '1' }) }));
    expect(placed).toMatchObject({ used: { memory: '2Gi', pods: '2' }, adopted: ['x'], isGivenBack: true });
    expect(placed?.after.slices.size).toBe(0);
  });

  const newcomer = { ...own, isStored: false, spent: [] };
  const sliced = (count: number, used: LedgerState['used']) => {
    const slices = Array.from({ length: count }, (_, index) => slice(`other-${index}`, '1Gi'));
    return state({ used, slices: new Map(slices.map((each) => [each.holder, each])) });
  };

  test('gives no more than 64 replicas one', () => {
    expect(place(newcomer, sliced(63, standing.used))).toMatchObject({ pods: 20 });
    expect(place(newcomer, sliced(64, standing.used))).toBeUndefined();
  });

  test('gives a replica whose slice was lost the last place, though it has spent of the old one', () => {
    const lost = { ...own, isStored: false };
    expect(place(lost, sliced(63, standing.used))).toMatchObject({ pods: 20, used: { memory: '52Gi', pods: '52' } });
  });

  test('gives fewer replicas a slice if the names of limited resources are long', () => {
    const long = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`${'x'.repeat(300)}${index}`, '1000']));
    const hard = amountsOf({ memory: '1000Gi', ...long });
    const used = limitedAmounts(new Map(), hard);
    expect(place(newcomer, sliced(3, used), hard)).toMatchObject({ pods: 20 });
    expect(place(newcomer, sliced(4, used), hard)).toBeUndefined();
  });

  test('gives none of a resource that has been limited only since, and says no more of what was spent before', () => {
    const hard = amountsOf({ memory: '1000Gi', pods: '1000', cpu: '1000' });
    expect(place(newcomer, state({ used: standing.used }), hard)).toBeUndefined();
    const known = { ...standing, used: amountsOf({ memory: '30Gi', pods: '30', cpu: '10' }) };
    const before = spent.map((each) => ({ ...each, amounts: amountsOf({ memory: '1Gi', pods: '1' }) }));
    const placed = place(
      { ...own, spent: before, demand: { pods: 10, largest: before[0]?.amounts ?? HARD } },
      known,
      hard,
    );
    expect(print(placed?.after.slices.get('a')?.amounts)).toEqual({ memory: '22Gi', pods: '22' });
    expect(placed?.used).toEqual({ memory: '42Gi', pods: '42' });
  });
});
