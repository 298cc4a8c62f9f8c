import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { EMPTY_LEDGER, MOST_RESERVATIONS, openLedger, type Ledger } from '#shared/domain/quota/ledger.ts';
import { amountsOf } from '#test/build/cluster.ts';

const HARD = amountsOf({ 'requests.memory': '4Gi', pods: '3' });

function reservation(uid: string, memory: string, namespace = 'a') {
  return {
    uid,
    namespace,
    pod: uid,
    amounts: amountsOf({ 'requests.memory': memory, pods: '1', cpu: '1' }),
    admittedAt: 0,
  };
}

function pod(uid: string, memory: string, namespace = 'a') {
  return { uid, namespace, amounts: amountsOf({ 'requests.memory': memory, pods: '1' }) };
}

function texts(ledger: Ledger) {
  const { used, byNamespace, reservations } = ledger.state();
  const print = (amounts: typeof used) =>
    Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
  return {
    used: print(used),
    byNamespace: Object.fromEntries(Array.from(byNamespace, ([namespace, amounts]) => [namespace, print(amounts)])),
    reserved: [...reservations.keys()],
  };
}

describe('openLedger', () => {
  test('adds a reservation to the whole and to its namespace, in limited resources only', () => {
    const ledger = openLedger(EMPTY_LEDGER, HARD);
    expect(ledger.reserve(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
    expect(texts(ledger)).toEqual({
      used: { 'requests.memory': '1Gi', pods: '1' },
      byNamespace: { a: { 'requests.memory': '1Gi', pods: '1' } },
      reserved: ['x'],
    });
  });

  test('refuses what does not fit, naming every resource, and changes nothing', () => {
    const ledger = openLedger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '4Gi', pods: '3' }) }, HARD);
    const outcome = ledger.reserve(reservation('x', '1Gi'));
    expect(outcome).toMatchObject({
      kind: 'exceeded',
      exceeded: [{ resource: 'requests.memory' }, { resource: 'pods' }],
    });
    expect(texts(ledger)).toMatchObject({ used: { 'requests.memory': '4Gi', pods: '3' }, reserved: [] });
  });

  test('takes exactly what is left', () => {
    const ledger = openLedger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '3Gi' }) }, HARD);
    expect(ledger.reserve(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
  });

  test('is not blocked by a resource that is over its limit and not asked for', () => {
    const ledger = openLedger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '5Gi' }) }, HARD);
    expect(ledger.reserve(reservation('x', '0'))).toEqual({ kind: 'reserved' });
  });

  test('reserves for a pod once', () => {
    const ledger = openLedger(EMPTY_LEDGER, HARD);
    ledger.reserve(reservation('x', '1Gi'));
    expect(ledger.reserve(reservation('x', '3Gi'))).toEqual({ kind: 'alreadyReserved' });
    expect(texts(ledger).used).toEqual({ 'requests.memory': '1Gi', pods: '1' });
  });

  test('undoes a reservation exactly, and an unknown one not at all', () => {
    const ledger = openLedger(EMPTY_LEDGER, HARD);
    ledger.reserve(reservation('x', '1Gi'));
    ledger.reserve(reservation('y', '2Gi', 'b'));
    ledger.cancel('x');
    ledger.cancel('nobody');
    expect(texts(ledger)).toMatchObject({ used: { 'requests.memory': '2Gi', pods: '1' }, reserved: ['y'] });
  });

  test('counts pods and the reservations that have no pod yet', () => {
    const fresh = openLedger(
      {
        ...EMPTY_LEDGER,
        reservations: new Map(['seen', 'unseen', 'expired'].map((uid) => [uid, reservation(uid, '1Gi')])),
      },
      HARD,
    );
    fresh.recount([pod('seen', '1Gi'), pod('old', '512Mi', 'b')], (uid) => uid === 'expired');
    expect(texts(fresh)).toEqual({
      used: { 'requests.memory': '2560Mi', pods: '3' },
      byNamespace: { a: { 'requests.memory': '2Gi', pods: '2' }, b: { 'requests.memory': '512Mi', pods: '1' } },
      reserved: ['unseen'],
    });
  });

  test('holds no more reservations than the object may', () => {
    const many = Array.from(
      { length: MOST_RESERVATIONS },
      (_, index) => [String(index), reservation(String(index), '0')] as const,
    );
    const ledger = openLedger(
      { ...EMPTY_LEDGER, reservations: new Map(many) },
      amountsOf({ 'requests.memory': '1Gi' }),
    );
    expect(ledger.reserve(reservation('one more', '0'))).toEqual({ kind: 'full' });
  });

  test('leaves the state it was opened with alone', () => {
    const before = openLedger(EMPTY_LEDGER, HARD);
    before.reserve(reservation('x', '1Gi'));
    const state = before.state();
    const snapshot = texts(before);
    openLedger(state, HARD).reserve(reservation('y', '1Gi'));
    openLedger(state, HARD).cancel('x');
    expect(texts(before)).toEqual(snapshot);
  });
});
