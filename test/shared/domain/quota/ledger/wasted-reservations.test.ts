import { describe, expect, test } from 'vitest';
import { type Amounts, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { Ledger, type ReserveOutcome } from '#shared/domain/quota/ledger/ledger.ts';
import { EMPTY_LEDGER, type LedgerState, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { debtsAt, noteCount, NO_WASTE, type WasteRecord } from '#shared/domain/quota/ledger/wasted-reservations.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf, type CountedPod } from '#test/build/pod-count.ts';

const RESERVATION_MS = 120_000;
const COUNT_EVERY_MS = 5_000;
const HARD = amountsOf({ pods: '100' });
const ONE = amountsOf({ pods: '1' });

/** A quota as one replica sees it: pods are asked for, counted now and then, and reservations expire. */
function createQuota(hard = HARD) {
  const used = new Map(Array.from(hard.keys(), (name) => [name, ZERO] as const));
  let state: LedgerState = { ...EMPTY_LEDGER, used };
  let record: WasteRecord = NO_WASTE;
  let now = 0;
  let last = 0;
  const pods: CountedPod[] = [];
  const terms = () => ({ now, reservationMs: RESERVATION_MS });

  function next(namespace: string, amounts: Amounts): Reservation {
    const uid = `pod-${(last += 1)}`;
    return { uid, namespace, pod: uid, amounts, admittedAt: 0 };
  }

  function count(): void {
    const counted = countOf(hard, pods);
    record = noteCount(record, { state, spent: [], hard, pods: counted, provenAt: now }, terms());
    const ledger = new Ledger(state, hard);
    const isExpired = (uid: string) => now - (record.missed.get(uid)?.since ?? now) >= RESERVATION_MS;
    ledger.recount(counted, { isExact: true, isExpired, isDead: () => false });
    state = ledger.state();
  }

  return {
    /** Requests a pod of a namespace, and stores it if the namespace is honest. */
    ask(namespace: string, isStored: boolean, cost = ONE): ReserveOutcome['kind'] {
      const ledger = new Ledger(state, hard, debtsAt(record, terms()));
      const reservation = next(namespace, cost);
      const { kind } = ledger.reserve(reservation);
      state = ledger.state();
      if (kind === 'reserved' && isStored) pods.push(reservation);
      return kind;
    },
    /** Requests as many pods as are allowed, and stores none. */
    flood(namespace: string): ReserveOutcome['kind'] {
      const ledger = new Ledger(state, hard, debtsAt(record, terms()));
      let kind: ReserveOutcome['kind'];
      do ({ kind } = ledger.reserve(next(namespace, ONE)));
      while (kind === 'reserved');
      state = ledger.state();
      return kind;
    },
    pass(ms: number): void {
      for (const until = now + ms; now < until;) {
        now += COUNT_EVERY_MS;
        count();
      }
    },
    store(namespace: string): void {
      for (const { uid, amounts, ...rest } of state.reservations.values())
        if (rest.namespace === namespace) pods.push({ uid, namespace, amounts });
    },
    used: () => quantityNumber(state.used.get('pods') ?? ZERO),
    debt: (namespace: string) => debtsAt(record, terms()).get(namespace) ?? 0,
  };
}

describe('what a namespace wastes of a quota', () => {
  test('is nothing while its pods appear', () => {
    const quota = createQuota();
    for (let index = 0; index < 100; index += 1) expect(quota.ask('honest', true)).toBe('reserved');
    quota.pass(600_000);
    expect([quota.used(), quota.debt('honest')]).toEqual([100, 0]);
  });

  test('is not counted for ten seconds, and repaid when the pod appears after all', () => {
    const quota = createQuota();
    quota.flood('slow');
    quota.pass(10_000);
    expect(quota.debt('slow')).toBe(0);
    quota.pass(5_000);
    expect(quota.debt('slow')).toBeCloseTo(1, 1);
    quota.store('slow');
    quota.pass(5_000);
    expect(quota.debt('slow')).toBe(0);
  });

  test('may be all of it once, for example when another webhook refuses a rollout', () => {
    const quota = createQuota();
    quota.flood('mistaken');
    quota.pass(RESERVATION_MS + COUNT_EVERY_MS);
    expect([quota.used(), quota.ask('mistaken', true, amountsOf({ pods: '100' }))]).toEqual([0, 'reserved']);
  });

  test('is paid off in eight lives of a reservation', () => {
    const quota = createQuota();
    quota.flood('mistaken');
    quota.pass(15_000);
    const owed = quota.debt('mistaken');
    quota.pass(4 * RESERVATION_MS);
    expect(quota.debt('mistaken')).toBeCloseTo(owed - 0.5, 5);
    quota.pass(5 * RESERVATION_MS);
    expect(quota.debt('mistaken')).toBe(0);
  });

  test('keeps others out for minutes at first, and is an eighth of the quota in the long run', () => {
    const quota = createQuota();
    const taken: number[] = [];
    for (let second = 0; second < 7_200; second += 5) {
      quota.flood('attacker');
      taken.push(quota.used() / 100);
      quota.pass(5_000);
    }
    const minutes = (from: number, to: number) => taken.slice(from * 12, to * 12);
    const average = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
    expect(minutes(0, 6).filter((share) => share > 0.9).length / 12).toBeLessThan(4.5);
    expect(average(minutes(20, 120))).toBeLessThan(0.15);
  });

  test('is an eighth of the room that others leave, where they leave little', () => {
    const quota = createQuota();
    for (let index = 0; index < 60; index += 1) quota.ask('honest', true);
    const taken: number[] = [];
    for (let second = 0; second < 7_200; second += 5) {
      quota.flood('attacker');
      taken.push(quota.used() - 60);
      quota.pass(5_000);
    }
    const later = taken.slice(20 * 12);
    expect(later.reduce((sum, pods) => sum + pods, 0) / later.length).toBeLessThan(40 * 0.15);
  });

  test('does not keep its next pods out of a quota where it wasted little, and others not at all', () => {
    const quota = createQuota();
    for (let index = 0; index < 95; index += 1) quota.ask('honest', true);
    quota.flood('attacker');
    for (let again = 0; again < 6; again += 1) {
      quota.pass(RESERVATION_MS + COUNT_EVERY_MS);
      quota.flood('attacker');
    }
    quota.pass(RESERVATION_MS + COUNT_EVERY_MS);
    expect(quota.ask('honest', true)).toBe('reserved');
  });

  test('is measured by places too: of very many small pods most are kept out', () => {
    const quota = createQuota(amountsOf({ pods: '1000000' }));
    const taken: number[] = [];
    for (let second = 0; second < 7_200; second += 5) {
      expect(quota.flood('attacker')).toMatch(/full|wasted/);
      taken.push(quota.used());
      quota.pass(5_000);
    }
    const later = taken.slice(20 * 12);
    expect([Math.max(...taken), later.reduce((sum, pods) => sum + pods, 0) / later.length < 160]).toEqual([500, true]);
  });

  test('lets a Deployment grow by 500 pods at once', () => {
    const quota = createQuota(amountsOf({ pods: '600' }));
    for (let index = 0; index < 500; index += 1) expect(quota.ask('honest', true)).toBe('reserved');
  });

  test('ignores resizes whose storage is not visible', () => {
    const reservation = { namespace: 'a', pod: 'web', amounts: HARD, admittedAt: 0 };
    const unnumbered = { ...reservation, uid: 'uid.request' };
    const numbered = { ...reservation, uid: 'uid.other', namespace: 'b', generation: 3 };
    const state = {
      ...EMPTY_LEDGER,
      used: HARD,
      reservations: new Map([unnumbered, numbered].map((each) => [each.uid, each])),
    };
    const count = { state, spent: [], hard: HARD, pods: countOf(HARD, []) };
    const at = (now: number) => ({ now, reservationMs: RESERVATION_MS });
    const missed = noteCount(NO_WASTE, { ...count, provenAt: 0 }, at(0));
    const owed = noteCount(missed, { ...count, provenAt: 10_000 }, at(10_000));
    expect([...debtsAt(owed, at(10_000))]).toEqual([['b', 1]]);
  });

  test('is not known while the count may lag behind', () => {
    const late: Reservation = { uid: 'late', namespace: 'a', pod: 'late', amounts: HARD, admittedAt: 0 };
    const state = { ...EMPTY_LEDGER, used: HARD, reservations: new Map([['late', late]]) };
    const count = { state, spent: [], hard: HARD, pods: countOf(HARD, []), provenAt: 9_999 };
    const at = (now: number) => ({ now, reservationMs: RESERVATION_MS });
    const missed = noteCount(noteCount(NO_WASTE, count, at(0)), count, at(60_000));
    expect([...debtsAt(missed, at(60_000))]).toEqual([]);
    expect([...debtsAt(noteCount(missed, { ...count, provenAt: 10_000 }, at(60_000)), at(60_000))]).toEqual([['a', 1]]);
  });
});
