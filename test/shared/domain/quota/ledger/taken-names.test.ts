import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import { EMPTY_LEDGER, type LedgerState, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { countOf } from '#test/build/pod-count.ts';
import { amountsOf } from '#test/build/cluster.ts';

const HARD = amountsOf({ 'requests.memory': '4Gi', pods: '3' });
const COUNTED = { ...EMPTY_LEDGER, used: amountsOf({ 'requests.memory': '0', pods: '0' }) };

function amounts(memory: string) {
  return amountsOf({ 'requests.memory': memory, pods: '1' });
}

describe('a name that a pod has', () => {
  const OPTIONS = { isExact: false, isExpired: () => false, isDead: () => false };
  const existing = { uid: 'web', namespace: 'a', amounts: amounts('1Gi') };
  /** Another creation of it, which the API server is about to refuse. */
  const again = (uid: string, memory = '1Gi'): Reservation => ({
    uid,
    namespace: 'a',
    pod: 'web',
    admittedAt: 0,
    claim: `of ${uid}`,
    amounts: amounts(memory),
  });
  const used = (ledger: Ledger) =>
    Object.fromEntries(Array.from(ledger.state().used, ([name, amount]) => [name, formatQuantity(amount)]));
  const counted = (pods = [existing], state: LedgerState = COUNTED) => {
    const ledger = new Ledger(state, HARD);
    ledger.recount(countOf(HARD, pods), OPTIONS);
    return ledger;
  };

  test('counts once, with the larger of the pod and what is asked for', () => {
    const ledger = counted();
    for (const uid of ['x', 'y', 'z']) expect(ledger.reserve(again(uid)).kind).toBe('reserved');
    expect(used(ledger)).toEqual({ 'requests.memory': '1Gi', pods: '1' });
    ledger.reserve(again('larger', '3Gi'));
    expect(used(ledger)).toEqual({ 'requests.memory': '3Gi', pods: '1' });
    ledger.recount(countOf(HARD, [existing]), OPTIONS);
    expect(used(ledger)).toEqual({ 'requests.memory': '3Gi', pods: '1' });
  });

  test('counts once also where it was reserved before the pod was counted, in every replica that reads the ledger', () => {
    const ledger = new Ledger(COUNTED, HARD);
    ledger.reserve(again('x'));
    expect(used(counted([existing], ledger.state()))).toEqual({ 'requests.memory': '1Gi', pods: '1' });
  });

  test('stays reserved when the pod is gone, whose room no other pod takes', () => {
    const before = counted();
    before.reserve(again('x', '2Gi'));
    const ledger = counted([], before.state());
    expect(used(ledger)).toEqual({ 'requests.memory': '2Gi', pods: '1' });
    expect(ledger.state().reservations.get('x')?.isNameTaken).toBe(false);
  });

  test('gives nothing back that it did not take, whichever request is cancelled, until the next recount', () => {
    const first = counted();
    first.reserve(again('x'));
    const ledger = new Ledger(first.state(), HARD);
    ledger.reserve(again('y'));
    for (const uid of ['x', 'y']) ledger.cancel({ uid, claim: `of ${uid}` });
    expect(used(ledger)).toEqual({ 'requests.memory': '1Gi', pods: '1' });
    expect(used(counted([existing], ledger.state()))).toEqual({ 'requests.memory': '1Gi', pods: '1' });
  });

  test('of another namespace, or of a resize, does not', () => {
    const ledger = counted();
    ledger.reserve({ ...again('x'), namespace: 'b' });
    ledger.reserve({ ...again('web.resize', '1Gi'), generation: 2 });
    expect(used(ledger)).toEqual({ 'requests.memory': '3Gi', pods: '3' });
  });
});
