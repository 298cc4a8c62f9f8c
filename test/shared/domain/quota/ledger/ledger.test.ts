import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import { EMPTY_LEDGER, type LedgerState, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts, onlyLimited } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import { countOf } from '#test/build/pod-count.ts';
import { amountsOf } from '#test/build/cluster.ts';

const HARD = amountsOf({ 'requests.memory': '4Gi', pods: '3' });
const MAX_RESERVATIONS = 1_000;
const COUNTED = { ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '0', pods: '0' }) };

function reservation(uid: string, memory: string, namespace = 'a'): Reservation {
  return {
    uid,
    namespace,
    pod: uid,
    amounts: amountsOf({ 'requests.memory': memory, pods: '1', cpu: '1' }),
    admittedAt: 0,
    claim: `of ${uid}`,
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

function printReserved({ reservations }: LedgerState) {
  return Object.fromEntries(
    Array.from(reservations.values(), ({ uid, amounts }) => [
      uid,
      Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)])),
    ]),
  );
}

describe('Ledger', () => {
  test('adds a reservation to the whole, in limited resources only', () => {
    const ledger = new Ledger(COUNTED, HARD);
    expect(ledger.reserve(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
    expect(texts(ledger)).toEqual({
      used: { 'requests.memory': '1Gi', pods: '1' },
      byNamespace: {},
      reserved: ['x'],
    });
  });

  test('refuses what does not fit, naming every resource, and changes nothing', () => {
    const ledger = new Ledger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '4Gi', pods: '3' }) }, HARD);
    const outcome = ledger.reserve(reservation('x', '1Gi'));
    expect(outcome).toMatchObject({
      kind: 'exceeded',
      exceeded: [{ resource: 'requests.memory' }, { resource: 'pods' }],
    });
    expect(texts(ledger)).toMatchObject({ used: { 'requests.memory': '4Gi', pods: '3' }, reserved: [] });
  });

  test('takes exactly what is left', () => {
    const ledger = new Ledger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '3Gi', pods: '0' }) }, HARD);
    expect(ledger.reserve(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
  });

  test('is not blocked by a resource that is over its limit and not asked for', () => {
    const ledger = new Ledger({ ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '5Gi', pods: '0' }) }, HARD);
    expect(ledger.reserve(reservation('x', '0'))).toEqual({ kind: 'reserved' });
  });

  test('reserves for a pod once, and recognises a repeated request by its claim', () => {
    const ledger = new Ledger(COUNTED, HARD);
    ledger.reserve(reservation('x', '1Gi'));
    expect(ledger.reserve(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
    expect(ledger.reserve({ ...reservation('x', '3Gi'), claim: 'other' })).toEqual({ kind: 'alreadyReserved' });
    expect(texts(ledger).used).toEqual({ 'requests.memory': '1Gi', pods: '1' });
  });

  test.each(['of x', 'other'])('lets no request cancel what two requests rely on, here %s', (claim) => {
    const ledger = new Ledger(COUNTED, HARD);
    ledger.reserve(reservation('x', '1Gi'));
    ledger.reserve({ ...reservation('x', '1Gi'), claim: 'other' });
    ledger.cancel({ uid: 'x', claim });
    expect(texts(ledger).reserved).toEqual(['x']);
  });

  test('changes nothing by a preview, and knows whether it was changed', () => {
    const ledger = new Ledger(COUNTED, HARD);
    expect(ledger.preview(reservation('x', '1Gi'))).toEqual({ kind: 'reserved' });
    expect(ledger.preview(reservation('x', '5Gi'))).toMatchObject({ kind: 'exceeded' });
    ledger.cancel({ uid: 'x', claim: 'of x' });
    expect({ isChanged: ledger.isChanged, reserved: texts(ledger).reserved }).toEqual({
      isChanged: false,
      reserved: [],
    });
    ledger.reserve(reservation('x', '1Gi'));
    expect(ledger.isChanged).toBe(true);
  });

  test('undoes a reservation exactly, and an unknown one not at all', () => {
    const ledger = new Ledger(COUNTED, HARD);
    ledger.reserve(reservation('x', '1Gi'));
    ledger.reserve(reservation('y', '2Gi', 'b'));
    ledger.cancel({ uid: 'x', claim: 'of x' });
    ledger.cancel({ uid: 'y', claim: 'of somebody else' });
    ledger.cancel({ uid: 'nobody', claim: 'of nobody' });
    expect(texts(ledger)).toMatchObject({ used: { 'requests.memory': '2Gi', pods: '1' }, reserved: ['y'] });
  });

  test('counts pods and the reservations that have no pod yet', () => {
    const fresh = new Ledger(
      {
        ...EMPTY_LEDGER,
        reservations: new Map(['seen', 'unseen', 'expired'].map((uid) => [uid, reservation(uid, '1Gi')])),
      },
      HARD,
    );
    fresh.recount(countOf(HARD, [pod('seen', '1Gi'), pod('old', '512Mi', 'b')]), {
      isExact: true,
      isExpired: (uid) => uid === 'expired',
      isDead: () => false,
    });
    expect(texts(fresh)).toEqual({
      used: { 'requests.memory': '2560Mi', pods: '3' },
      byNamespace: { a: { 'requests.memory': '1Gi', pods: '1' }, b: { 'requests.memory': '512Mi', pods: '1' } },
      reserved: ['unseen'],
    });
  });

  test('holds no more reservations than the object may', () => {
    const many = Array.from(
      { length: MAX_RESERVATIONS },
      (_, index) => [String(index), reservation(String(index), '0')] as const,
    );
    const ledger = new Ledger({ ...COUNTED, reservations: new Map(many) }, amountsOf({ 'requests.memory': '1Gi' }));
    expect(ledger.reserve(reservation('one more', '0'))).toEqual({ kind: 'full' });
  });

  test('leaves the state it was opened with alone', () => {
    const before = new Ledger(COUNTED, HARD);
    before.reserve(reservation('x', '1Gi'));
    const state = before.state();
    const snapshot = texts(before);
    new Ledger(state, HARD).reserve(reservation('y', '1Gi'));
    new Ledger(state, HARD).cancel({ uid: 'x', claim: 'of x' });
    expect(texts(before)).toEqual(snapshot);
  });

  test('stores what a pod costs of limited resources alone, also that it costs nothing of them', () => {
    const ledger = new Ledger(COUNTED, HARD);
    ledger.reserve({ ...reservation('x', '1Gi'), amounts: amountsOf({ pods: '1', 'requests.example.com/gpu': '1' }) });
    expect(printReserved(ledger.state())).toEqual({ x: { 'requests.memory': '0', pods: '1' } });
  });

  describe('under limits that name another resource', () => {
    const wider = amountsOf({ 'requests.memory': '4Gi', pods: '3', cpu: '2' });
    const asking = (uid: string, cpu: string) => ({
      ...reservation(uid, '1Gi'),
      amounts: amountsOf({ 'requests.memory': '1Gi', pods: '1', cpu }),
    });
    function recounted(before: LedgerState, seen: readonly ReturnType<typeof pod>[] = [], expired = ''): Ledger {
      const ledger = new Ledger(before, wider);
      ledger.recount(countOf(wider, seen), { isExact: true, isExpired: (uid) => uid === expired, isDead: () => false });
      return ledger;
    }
    function before(): LedgerState {
      const ledger = new Ledger(COUNTED, HARD);
      ledger.reserve(reservation('old', '1Gi'));
      return ledger.state();
    }

    test('does not assume that an earlier reservation costs nothing of it', () => {
      const ledger = recounted(before());
      expect(texts(ledger).used).toEqual({ 'requests.memory': '1Gi', pods: '1' });
      expect(ledger.reserve(asking('new', '1'))).toEqual({ kind: 'unknown' });
      expect(ledger.reserve(asking('none of it', '0'))).toEqual({ kind: 'reserved' });
    });

    test('knows its usage as soon as the pod is seen or will never appear', () => {
      const seen = recounted(before(), [pod('old', '1Gi')]);
      expect(seen.reserve(asking('new', '2'))).toEqual({ kind: 'reserved' });
      const expired = recounted(before(), [], 'old');
      expect(expired.reserve(asking('new', '3'))).toMatchObject({ kind: 'exceeded' });
      expect(texts(expired).used).toEqual({ 'requests.memory': '0', pods: '0', cpu: '0' });
    });

    test('does not assume that a charge to an earlier slice costs nothing', () => {
      const slice = { holder: 'a', amounts: amountsOf({ pods: '1' }), renewals: 1, recallRequested: false };
      const ledger = recounted({ ...COUNTED, slices: new Map([['a', slice]]) });
      expect(texts(ledger).used).toEqual({ pods: '1' });
      expect(ledger.reserve(asking('new', '1'))).toEqual({ kind: 'unknown' });
    });

    test('forgets what is not limited any more', () => {
      const ledger = new Ledger(before(), amountsOf({ pods: '3' }));
      ledger.recount(countOf(amountsOf({ pods: '3' }), []), {
        isExact: true,
        isExpired: () => false,
        isDead: () => false,
      });
      expect(printReserved(ledger.state())).toEqual({ old: { pods: '1' } });
    });
  });

  test('holds fewer reservations where the names of limited resources are long', () => {
    const names = Array.from({ length: 64 }, (_, index) => `requests.example.com/${String(index).padStart(287, 'x')}`);
    const hard = amountsOf(Object.fromEntries(names.map((name) => [name, '1000'])));
    const ledger = new Ledger({ ...EMPTY_LEDGER, used: limitedAmounts(new Map(), hard) }, hard);
    const pod = 'x'.repeat(253);
    const ask = (index: number) => {
      const namespace = `${index}`.padEnd(63, 'x');
      return ledger.reserve({ ...reservation(`${index}`.padEnd(73, 'u'), '1Gi', namespace), pod }).kind;
    };
    let reserved = 0;
    while (ask(reserved) === 'reserved') reserved += 1;
    const bytes = JSON.stringify(printReserved(ledger.state())).length + reserved * 600;
    expect([reserved > 20, bytes < 2 ** 20]).toEqual([true, true]);
  });

  test('leaves half of the places that others leave to a namespace, and none where all are taken', () => {
    const ledger = new Ledger(COUNTED, amountsOf({ 'requests.memory': '1Gi' }));
    let last = 0;
    const fill = (namespace: string): number => {
      const before = last;
      while (ledger.reserve(reservation(`pod-${last}`, '0', namespace)).kind === 'reserved') last += 1;
      return last - before;
    };
    expect(['a', 'b', 'c', 'a'].map(fill)).toEqual([500, 250, 125, 0]);
    for (let index = 0; index < 189; index += 1) ledger.cancel({ uid: `pod-${index}`, claim: `of pod-${index}` });
    expect(ledger.reserve(reservation('again', '0', 'a'))).toEqual({ kind: 'reserved' });
  });

  test('takes over from a slice what was spent under earlier limits without knowing more of it', () => {
    const wider = amountsOf({ 'requests.memory': '4Gi', pods: '3', cpu: '2' });
    const ledger = new Ledger({ ...COUNTED, used: amountsOf({ 'requests.memory': '0', pods: '0', cpu: '0' }) }, wider);
    const { amounts, ...rest } = reservation('x', '1Gi');
    expect(ledger.adopt({ ...rest, amounts: onlyLimited(amounts, HARD) })).toBe(true);
    expect(texts(ledger).used).toEqual({ 'requests.memory': '1Gi', pods: '1' });
    expect(printReserved(ledger.state())).toEqual({ x: { 'requests.memory': '1Gi', pods: '1' } });
  });

  test.each([
    [1.9, '512Mi', 'reserved'],
    [1.9, '3Gi', 'wasted'],
    [2, '1', 'wasted'],
    [0.5, '4Gi', 'reserved'],
  ])('weighs what a namespace has wasted (%d) against what it asks for (%s): %s', (debt, memory, kind) => {
    const debts = new Map([['a', debt]]);
    const empty = { ...COUNTED, used: amountsOf({ 'requests.memory': '0', pods: '0' }) };
    const ledger = new Ledger(empty, amountsOf({ 'requests.memory': '8Gi', pods: '100' }), debts);
    expect(ledger.reserve(reservation('x', memory))).toMatchObject({ kind });
    expect(ledger.reserve(reservation('y', memory, 'b'))).toEqual({ kind: 'reserved' });
  });
});
