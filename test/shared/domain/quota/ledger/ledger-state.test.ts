import { describe, expect, test } from 'vitest';
import {
  EMPTY_LEDGER,
  heldByNamespace,
  hold,
  podUidOf,
  type Reservation,
  resizeReservationUid,
  sizeSlice,
  withoutClaim,
} from '#shared/domain/quota/ledger/ledger-state.ts';
import { withSlice } from '#shared/domain/quota/ledger/slices.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';

type Texts = Readonly<Record<string, string>>;

function reservation(uid: string, namespace: string, amounts: Texts): Reservation {
  return { uid, namespace, pod: uid, amounts: amountsOf(amounts), admittedAt: 7, claim: 'mine' };
}

describe('sizeSlice', () => {
  test.each<[string, number, Texts, Texts, number | undefined]>([
    ['twice the demand, where that is four pods', 2, { pods: '1' }, { pods: '1000' }, 4],
    ['an eighth of the room, where that is four pods', 9, { pods: '1' }, { pods: '32' }, 4],
    ['nothing of room for a pod less', 9, { pods: '1' }, { pods: '31' }, undefined],
    ['whole pods', 9, { pods: '1' }, { pods: '47' }, 5],
    ['an eighth of the room of any size', 50, { memory: '128Mi' }, { memory: '8Gi' }, 8],
    ['an eighth in whatever unit', 50, { cpu: '250m' }, { cpu: '20' }, 10],
    [
      'twice the demand where a pod costs none of what is gone',
      2,
      { pods: '1', cpu: '0' },
      { pods: '99', cpu: '0' },
      4,
    ],
    ['twice the demand of what is not limited', 2, { cpu: '5' }, { pods: '0' }, 4],
  ])('is %s', (_, pods, largest, room, size) => {
    expect(sizeSlice({ pods, largest: amountsOf(largest) }, amountsOf(room))?.pods).toBe(size);
  });
});

describe('reservations', () => {
  test('of resizes are apart from each other, and belong to their pod', () => {
    const uid = resizeReservationUid('pod-uid', 'request-uid');
    expect(uid).not.toBe(resizeReservationUid('pod-uid', 'other'));
    expect([podUidOf(uid), podUidOf('pod-uid')]).toEqual(['pod-uid', 'pod-uid']);
  });

  test.each<[string, Partial<Reservation>]>([
    ['of a pod', {}],
    ['of a resize', { generation: 3 }],
  ])('%s lose their claim and nothing else', (_, more) => {
    const { claim, ...rest } = { ...reservation('x', 'a', { pods: '1' }), ...more };
    expect(claim).toBe('mine');
    expect(withoutClaim({ ...rest, claim: 'mine' })).toEqual(rest);
    expect(Object.keys(withoutClaim(rest)).sort()).toEqual(Object.keys(rest).sort());
  });

  test('are added up by namespace', () => {
    const held = heldByNamespace([
      reservation('x', 'a', { pods: '1' }),
      reservation('y', 'b', { pods: '1' }),
      reservation('z', 'a', { pods: '2', cpu: '1' }),
    ]);
    hold(held, reservation('w', 'c', { cpu: '3' }));
    const printed = Array.from(held, ([name, { count, amounts }]) => [name, count, printAmounts(amounts)]);
    expect(printed).toEqual([
      ['a', 2, { pods: '3', cpu: '1' }],
      ['b', 1, { pods: '1' }],
      ['c', 1, { cpu: '3' }],
    ]);
  });
});

test.each<[string, Texts, Texts, Texts]>([
  ['a first slice', {}, { pods: '2', cpu: '1' }, { pods: '12', cpu: '6' }],
  ['another size', { pods: '4', cpu: '2' }, { pods: '2', cpu: '3' }, { pods: '8', cpu: '6' }],
  ['no slice any more', { pods: '4', cpu: '2' }, {}, { pods: '6', cpu: '3' }],
  ['a slice that does not say what it holds of cpu', { pods: '4', cpu: '2' }, { pods: '1' }, { pods: '7' }],
  ['a slice after one that did not say', { pods: '4' }, { pods: '1', cpu: '1' }, { pods: '7', cpu: '6' }],
])('used follows %s', (_, before, after, used) => {
  const slice = { holder: 'me', renewals: 1, recallRequested: false };
  const slices = new Map([['me', { ...slice, amounts: amountsOf(before) }]]);
  const state = { ...EMPTY_LEDGER, used: amountsOf({ pods: '10', cpu: '5' }), slices };
  expect(printAmounts(withSlice(state, { ...slice, amounts: amountsOf(after) }).used)).toEqual(used);
});
