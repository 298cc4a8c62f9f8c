import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quantityFromInteger, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { EMPTY_LEDGER, type Reservation, type Slice } from '#shared/domain/quota/ledger/ledger-state.ts';
import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import { countOf } from '#test/build/pod-count.ts';

const SEEDS = [20_261_127, 2, 3, 4];
const RESOURCES = ['pods', 'units'];
type Units = readonly [pods: number, units: number];

/** A ledger in plain numbers: every sum is made anew from its parts. */
class NumberLedger {
  readonly reservations = new Map<string, { readonly cost: Units; claim: string | undefined }>();
  readonly slices = new Map<string, Units>();
  counted: Units = [0, 0];
  readonly hard: Units;

  constructor(hard: Units) {
    this.hard = hard;
  }

  get used(): Units {
    const parts = [this.counted, ...this.slices.values(), ...this.ofNames.values()];
    return [sum(parts.map(([pods]) => pods)), sum(parts.map(([, units]) => units))];
  }

  /** What the creations of each name take: of one name, the API server stores one pod at a time at most. */
  get ofNames(): ReadonlyMap<string, Units> {
    const taken = new Map<string, Units>();
    for (const [uid, { cost }] of this.reservations) {
      const [pods, units] = taken.get(nameOf(uid)) ?? [0, 0];
      taken.set(nameOf(uid), [Math.max(pods, cost[0]), Math.max(units, cost[1])]);
    }
    return taken;
  }

  outcome(uid: string, cost: Units, claim: string | undefined): string {
    const present = this.reservations.get(uid);
    if (present !== undefined) return claim !== undefined && present.claim === claim ? 'reserved' : 'alreadyReserved';
    const { used, hard } = this;
    const taken = this.ofNames.get(nameOf(uid)) ?? [0, 0];
    const more = [0, 1].map((at) => Math.max(0, (cost[at] ?? 0) - (taken[at] ?? 0)));
    return more.some((added, at) => added > 0 && (used[at] ?? 0) + added > (hard[at] ?? 0)) ? 'exceeded' : 'reserved';
  }

  /** Whether that changed anything. */
  put(uid: string, cost: Units, claim: string | undefined): boolean {
    const present = this.reservations.get(uid);
    if (present === undefined) {
      this.reservations.set(uid, { cost, claim });
      return true;
    }
    if (present.claim === undefined || present.claim === claim) return false;
    present.claim = undefined;
    return true;
  }

  cancel(uid: string, claim: string | undefined): boolean {
    const isOwn = claim !== undefined && this.reservations.get(uid)?.claim === claim;
    return isOwn && this.reservations.delete(uid);
  }
}

/** Some pods have the same name, and some creations none but the one that the API server gives. */
function nameOf(uid: string): string {
  const number = Number(uid.at(-1));
  return number < 5 ? `name-${number % 2}` : uid;
}

function sum(all: readonly number[]): number {
  return all.reduce((total, each) => total + each, 0);
}

function amountsOf([pods, units]: Units) {
  return new Map([
    ['pods', quantityFromInteger(pods, 'DecimalSI')],
    ['units', quantityFromInteger(units, 'DecimalSI')],
  ]);
}

function numbersOf(amounts: ReadonlyMap<string, typeof ZERO>): readonly number[] {
  return RESOURCES.map((name) => quantityNumber(amounts.get(name) ?? ZERO));
}

interface Ask {
  readonly kind: 'reserve' | 'adopt' | 'cancel';
  readonly uid: string;
  readonly cost: Units;
  readonly claim: string | undefined;
}

interface Recount {
  readonly kind: 'recount';
  readonly seen: readonly string[];
  readonly expired: readonly string[];
}

const uids = fc.integer({ min: 0, max: 6 }).map((number) => `pod-${number}`);
const costs: fc.Arbitrary<Units> = fc.tuple(fc.nat(1), fc.nat(9));
const asks: fc.Arbitrary<Ask> = fc.record({
  kind: fc.constantFrom('reserve', 'reserve', 'reserve', 'adopt', 'cancel'),
  uid: uids,
  cost: costs,
  claim: fc.constantFrom('one', 'two', undefined),
});
const recounts: fc.Arbitrary<Recount> = fc.record({
  kind: fc.constant('recount'),
  seen: fc.uniqueArray(uids),
  expired: fc.uniqueArray(uids),
});
const actions = fc.oneof({ weight: 10, arbitrary: asks }, recounts);
const slices = fc.dictionary(fc.constantFrom('a', 'b', 'dead'), costs);

function reservationOf({ uid, cost, claim }: Omit<Ask, 'kind'>): Reservation {
  const amounts = new Map([...amountsOf(cost), ['unlimited', quantityFromInteger(5, 'DecimalSI')]]);
  const rest = { uid, namespace: `of-${nameOf(uid).at(-1)}`, pod: nameOf(uid), amounts, admittedAt: 0 };
  return claim === undefined ? rest : { ...rest, claim };
}

/** The same ledger twice, with slices and nothing else. */
function createBoth(hard: Units, held: Readonly<Record<string, Units>>) {
  const model = new NumberLedger(hard);
  for (const [holder, cost] of Object.entries(held)) model.slices.set(holder, cost);
  const sliceOf = (holder: string, cost: Units): Slice => {
    return { holder, amounts: amountsOf(cost), renewals: 1, recallRequested: false };
  };
  const stored = new Map(Array.from(model.slices, ([holder, cost]) => [holder, sliceOf(holder, cost)]));
  const state = { ...EMPTY_LEDGER, used: amountsOf(model.used), slices: stored };
  return { model, ledger: new Ledger(state, amountsOf(hard)) };
}

type Both = ReturnType<typeof createBoth>;

/** Whether that must have changed the ledger. */
function doBoth({ model, ledger }: Both, { kind, ...asked }: Ask): boolean {
  const { uid, cost, claim } = asked;
  const reservation = reservationOf(asked);
  if (kind === 'cancel') {
    ledger.cancel(reservation);
    return model.cancel(uid, claim);
  }
  if (kind === 'adopt') {
    expect(ledger.adopt(reservation)).toBe(true);
    return model.put(uid, cost, claim);
  }
  const outcome = model.outcome(uid, cost, claim);
  expect([ledger.preview(reservation).kind, ledger.reserve(reservation).kind]).toEqual([outcome, outcome]);
  return outcome !== 'exceeded' && model.put(uid, cost, claim);
}

function recountBoth({ model, ledger }: Both, { seen, expired }: Recount): void {
  const figures = (): string => JSON.stringify([model.used, model.reservations.size, model.slices.size]);
  const before = figures();
  const pods = seen.map((uid) => ({ uid, namespace: 'any', amounts: amountsOf([1, 3]) }));
  model.counted = [pods.length, 3 * pods.length];
  for (const uid of [...seen, ...expired]) model.reservations.delete(uid);
  model.slices.delete('dead');
  const isNews = ledger.recount(countOf(amountsOf(model.hard), pods), {
    isExact: false,
    isExpired: (uid) => expired.includes(uid),
    isDead: ({ holder }) => holder === 'dead',
  });
  expect(isNews).toBe(before !== figures());
}

function expectSame({ model, ledger }: Both): void {
  const { used, reservations } = ledger.state();
  expect(numbersOf(used)).toEqual(model.used);
  expect([...reservations.keys()].toSorted()).toEqual([...model.reservations.keys()].toSorted());
  for (const { uid, amounts, claim } of reservations.values()) {
    expect([...amounts.keys()]).toEqual(RESOURCES);
    expect(claim).toBe(model.reservations.get(uid)?.claim);
  }
}

describe('a ledger', () => {
  test.each(SEEDS)('uses what its pods, reservations and slices come to, whatever happens (seed %s)', (seed) => {
    fc.assert(
      fc.property(
        fc.tuple(fc.nat(8), fc.nat(40)),
        slices,
        fc.array(actions, { maxLength: 25, size: 'max' }),
        (hard, held, all) => {
          const both = createBoth(hard, held);
          let isChanged = false;
          for (const action of all) {
            if (action.kind === 'recount') recountBoth(both, action);
            else isChanged = doBoth(both, action) || isChanged;
            expectSame(both);
            expect(both.ledger.isChanged).toBe(isChanged);
          }
        },
      ),
      { seed, numRuns: 50 },
    );
  });

  test.each<[string, boolean, boolean]>([
    ['news where the shares must be exact', true, true],
    ['no news otherwise', false, false],
  ])('whose pods are in another namespace than before is %s', (_, isExact, isNews) => {
    const hard = amountsOf([9, 9]);
    const podIn = (namespace: string) => [{ uid: 'pod', namespace, amounts: amountsOf([1, 1]) }];
    const options = { isExact, isExpired: () => false, isDead: () => false };
    const ledger = new Ledger({ ...EMPTY_LEDGER, used: amountsOf([0, 0]) }, hard);
    expect(ledger.recount(countOf(hard, podIn('a')), options)).toBe(true);
    expect(ledger.recount(countOf(hard, podIn('a')), options)).toBe(false);
    expect(ledger.recount(countOf(hard, podIn('b')), options)).toBe(isNews);
  });

  test('charges one name once, however often it is created, and never a dry run', () => {
    const { ledger } = createBoth([5, 50], {});
    const again = (uid: string, pod = 'x') => {
      return { ...reservationOf({ uid, cost: [1, 10], claim: uid }), namespace: 'team-a', pod };
    };
    const figures = () => numbersOf(ledger.state().used);
    for (let turn = 0; turn < 400; turn += 1) expect(ledger.reserve(again(`x-${turn}`)).kind).toBe('reserved');
    expect(figures()).toEqual([1, 10]);
    for (let turn = 0; turn < 399; turn += 1) ledger.cancel(again(`x-${turn}`));
    expect([ledger.preview(again('y', 'y')).kind, figures()]).toEqual(['reserved', [1, 10]]);
    expect(ledger.reserve({ ...again('other'), namespace: 'team-b' }).kind).toBe('reserved');
    for (const uid of ['a', 'b', 'c']) expect(ledger.reserve(again(uid, uid)).kind).toBe('reserved');
    expect([figures(), ledger.reserve(again('d', 'd')).kind]).toEqual([[5, 50], 'exceeded']);
    expect(ledger.reserve(again('x-again')).kind).toBe('reserved');
    ledger.cancel(again('x-399'));
    expect(figures()).toEqual([5, 50]);
    ledger.cancel(again('x-again'));
    expect(figures()).toEqual([4, 40]);
  });

  test('charges each resize of a pod, and a pod whose name is not known', () => {
    const { ledger } = createBoth([9, 90], {});
    for (const uid of ['u.one', 'u.two', 'v', 'w']) {
      const pod = uid.startsWith('u') ? 'x' : '';
      ledger.reserve({ ...reservationOf({ uid, cost: [1, 10], claim: uid }), namespace: 'team-a', pod });
    }
    expect(numbersOf(ledger.state().used)).toEqual([4, 40]);
  });

  test('has news where a reservation and a slice that cost nothing are gone', () => {
    const { ledger } = createBoth([9, 9], { dead: [0, 0] });
    ledger.reserve(reservationOf({ uid: 'pod-1', cost: [0, 0], claim: 'one' }));
    const options = { isExact: false, isExpired: () => true, isDead: () => true };
    const news = [1, 2].map(() => ledger.recount(countOf(amountsOf([9, 9]), []), options));
    expect(news).toEqual([true, false]);
  });

  test('weighs a debt with what a namespace holds after a recount, not before it', () => {
    const hard = amountsOf([10, 10]);
    const state = { ...EMPTY_LEDGER, used: amountsOf([0, 0]) };
    const ledger = new Ledger(state, hard, new Map([['of-1', 1.5]]));
    const ask = (units: number) => ledger.reserve(reservationOf({ uid: 'pod-1', cost: [0, units], claim: 'one' })).kind;
    expect(ask(4)).toBe('reserved');
    ledger.preview(reservationOf({ uid: 'other-1', cost: [0, 1], claim: 'one' }));
    ledger.recount(countOf(hard, []), { isExact: false, isExpired: () => true, isDead: () => false });
    expect([ask(6), ask(5)]).toEqual(['wasted', 'reserved']);
  });

  test('adopts no more than there are places, but what is there already', () => {
    const hard = amountsOf([0, 0]);
    const free = (uid: string): Reservation => reservationOf({ uid, cost: [0, 0], claim: 'one' });
    const many = Array.from({ length: 999 }, (_, index) => free(`r-${index}`));
    const ledger = new Ledger(
      { ...EMPTY_LEDGER, used: amountsOf([0, 0]), reservations: new Map(many.map((each) => [each.uid, each])) },
      hard,
    );
    expect(['x', 'y', 'x', 'r-5'].map((uid) => ledger.adopt(free(uid)))).toEqual([true, false, true, true]);
  });
});
