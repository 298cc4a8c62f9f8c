import { describe, expect, test } from 'vitest';
import { addAmounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { EMPTY_LEDGER, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { debtsAt, noteCount, NO_WASTE, type WasteRecord } from '#shared/domain/quota/ledger/wasted-reservations.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';

const RESERVATION_MS = 1_000;
/** A debt of all of the room is paid off in this time. */
const PAID_MS = 8 * RESERVATION_MS;
const OWED_MS = 10_000;
const HARD = amountsOf({ pods: '1000000' });

function reservation(uid: string, namespace: string, pods = '1'): Reservation {
  return { uid, namespace, pod: uid, amounts: amountsOf({ pods }), admittedAt: 0 };
}

function many(count: number, namespace: string): readonly Reservation[] {
  return Array.from({ length: count }, (_, index) => reservation(`${namespace}-${index}`, namespace));
}

interface Ledger {
  readonly reserved: readonly Reservation[];
  readonly spent?: readonly Reservation[];
  readonly hard?: typeof HARD;
}

/** The record after a count at a time, of the pods with these UIDs. */
function counted(record: WasteRecord, { reserved, spent = [], hard = HARD }: Ledger, now: number, seen: string[] = []) {
  const reservations = new Map(reserved.map((each) => [each.uid, each]));
  const used = [...reserved, ...spent].reduce((sum, { amounts }) => addAmounts(sum, amounts), NO_AMOUNTS);
  const state = { ...EMPTY_LEDGER, used, reservations };
  const pods = countOf(
    hard,
    seen.map((uid) => ({ uid, namespace: 'any', amounts: amountsOf({ pods: '1' }) })),
  );
  return noteCount(record, { state, spent, hard, pods, provenAt: now }, at(now));
}

function at(now: number) {
  return { now, reservationMs: RESERVATION_MS };
}

/** What is owed once these have been missed for ten seconds. */
function owedFor(ledger: Ledger): WasteRecord {
  return counted(counted(NO_WASTE, ledger, 0), ledger, OWED_MS);
}

describe('the debt for a reservation', () => {
  test.each<[string, Ledger, number]>([
    ['is its share of the room', { reserved: [reservation('x', 'a', '250000')] }, 0.25],
    ['is one of all places', { reserved: [reservation('x', 'a')] }, 1 / 1_000],
    ['is one of the places that others leave', { reserved: [reservation('x', 'a'), ...many(200, 'b')] }, 1 / 800],
    ['is all where others leave one place', { reserved: [reservation('x', 'a'), ...many(999, 'b')] }, 1],
    ['is all where others leave none', { reserved: many(1_000, 'b'), spent: [reservation('x', 'a')] }, 1],
    ['is added up for several', { reserved: many(4, 'a') }, 4 / 1_000],
  ])('%s', (_, ledger, share) => {
    expect(debtsAt(owedFor(ledger), at(OWED_MS)).get('a')).toBeCloseTo(share, 10);
  });

  test('is noted for charges to a slice, too', () => {
    const owed = owedFor({ reserved: [], spent: [reservation('x', 'a', '1000')] });
    expect([...owed.debts.keys()]).toEqual(['a']);
  });

  test('is noted once, however often its pod is missed', () => {
    const ledger = { reserved: [reservation('x', 'a', '500000')] };
    const later = counted(owedFor(ledger), ledger, OWED_MS + 800);
    expect(debtsAt(later, at(OWED_MS + 800)).get('a')).toBeCloseTo(0.4, 10);
  });

  test('is not repaid by a reservation that is cancelled or expires, but by its pod', () => {
    const ledger = { reserved: [reservation('x', 'a', '500000')] };
    const owed = owedFor(ledger);
    expect([...counted(owed, { reserved: [] }, OWED_MS).debts.keys()]).toEqual(['a']);
    expect([...counted(owed, ledger, OWED_MS, ['x']).debts.keys()]).toEqual([]);
  });

  test('is paid off in eight lives of a reservation, and is then none', () => {
    const owed = owedFor({ reserved: [reservation('x', 'a', '1000000')] });
    const debtAfter = (ms: number) => [...debtsAt(owed, at(OWED_MS + ms))];
    expect([0, PAID_MS / 2, PAID_MS, 2 * PAID_MS].map(debtAfter)).toEqual([[['a', 1]], [['a', 0.5]], [], []]);
    const recounted = [PAID_MS - 1, PAID_MS].map((ms) => counted(owed, { reserved: [] }, OWED_MS + ms).debts.size);
    expect(recounted).toEqual([1, 0]);
  });

  test('is forgotten with its reservation, so that the record does not grow', () => {
    const owed = owedFor({ reserved: many(3, 'a') });
    expect([owed.missed.size, counted(owed, { reserved: many(1, 'a') }, OWED_MS).missed.size]).toEqual([3, 1]);
    expect(counted(owed, { reserved: many(3, 'a') }, OWED_MS, ['a-0', 'a-1']).missed.size).toBe(1);
  });
});
