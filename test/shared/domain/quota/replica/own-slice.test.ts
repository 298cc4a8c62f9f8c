import { beforeEach, describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { ZERO } from '#shared/domain/quantity/quantity.ts';
import { OwnSlice, type SliceContext } from '#shared/domain/quota/replica/own-slice.ts';
import { withoutClaim } from '#shared/domain/quota/ledger/ledger-state.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { HOLDER, pendingOf, reservation, SETTINGS, sliceOf, stateOf, versionOf } from './replica-rig.ts';
import { charged, holding, ONE, recalled, roomOf, shareOf, spend, when } from './slice-builders.ts';

const RESERVED = { kind: 'reserved' };

describe('the demand of a replica', () => {
  test.each([
    [4, 0, undefined],
    [5, 0, 5],
    [5, 9_999, 5],
    [5, 10_000, undefined],
  ])('of %s pods is worth %s after %s ms', (pods, ms, expected) => {
    expect(shareOf(charged(pods), when(ms)).demand?.pods).toBe(expected);
  });

  test.each([
    [19_999, undefined],
    [20_000, 5],
  ])('of a replica that is %s ms old, and takes no slice before 20 s: %s', (ms, expected) => {
    const slice = new OwnSlice({ ...SETTINGS, sliceAfterMs: 20_000 }, 1_000);
    for (let index = 0; index < 5; index += 1) slice.chargedElsewhere(ONE, when(1_000 + ms));
    expect(shareOf(slice, when(1_000 + ms)).demand?.pods).toBe(expected);
  });

  test.each<[string, (slice: OwnSlice) => void, number]>([
    ['a recall that the ledger shows', recalledInLedger, 30_000],
    ['a recall that the cache shows', (slice) => shareOf(slice, when(0, recalled(1))), 30_000],
    [
      'a slice that was pruned',
      (slice) => {
        slice.forgo(when(0));
      },
      600_000,
    ],
  ])('is ignored for some time after %s', (_, action, ms) => {
    const slice = holding();
    action(slice);
    for (let index = 0; index < 5; index += 1) slice.chargedElsewhere(ONE, when(ms - 1));
    expect(shareOf(slice, when(ms - 1)).demand).toBeUndefined();
    expect(shareOf(slice, when(ms)).demand?.pods).toBe(5);
  });

  function recalledInLedger(slice: OwnSlice): void {
    const asked = sliceOf(HOLDER, '10Gi', { recallRequested: true });
    shareOf(slice, when(0), versionOf({ state: stateOf('10Gi', [], [asked]) }));
  }

  test('ends with the process', () => {
    const slice = charged(5);
    slice.close();
    expect(shareOf(slice, when(0)).demand).toBeUndefined();
  });

  test('is what was charged by slice and by ledger', () => {
    const slice = holding();
    spend(slice, 'x', when(1), '2Gi');
    const { demand } = shareOf(slice, when(2));
    expect([demand?.pods, formatQuantity(demand?.largest.get('memory') ?? ZERO)]).toEqual([6, '2Gi']);
  });
});

describe('what a slice allows', () => {
  let slice: OwnSlice;

  beforeEach(() => {
    slice = holding();
  });

  test.each<[string, SliceContext, string]>([
    ['just before its life is over', when(9_999), 'reserved'],
    ['when it is over by the monotonic clock', when(10_000, {}, 0), 'no room'],
    ['when it is over by the wall clock', when(0, {}, 10_000), 'no room'],
    ['of a quota that was recreated', when(0, { uid: 'other' }), 'no room'],
    ['under newer limits', when(0, { generation: 2 }), 'no room'],
    ['while the cache shows older limits', when(0, { generation: 0 }), 'reserved'],
    ['after a recall', when(0, recalled(1)), 'no room'],
    ['after a recall of the slice before', when(0, recalled(0)), 'reserved'],
  ])('%s: %s', (_, at, kind) => {
    expect(spend(slice, 'x', at)).toBe(kind);
  });

  test('nothing to a namespace in debt, and nothing before it is written', () => {
    expect(slice.spend(pendingOf('x'), when(0), true)).toBeUndefined();
    expect(spend(charged(5), 'x', when(0))).toBe('no room');
  });

  test('exactly what is free, and a cancelled charge again', () => {
    expect(['a', 'b', 'c'].map((uid) => spend(slice, uid, when(0), '4Gi'))).toEqual([
      'reserved',
      'reserved',
      'no room',
    ]);
    expect(roomOf(slice, when(0))).toBe(2);
    expect(slice.cancel(reservation('a'))).toBe(true);
    expect(slice.cancel(reservation('a'))).toBe(false);
    expect([roomOf(slice, when(0)), [...slice.spent.keys()]]).toEqual([6, ['b']]);
  });

  test('a charge twice for two requests, and then to neither its cancellation', () => {
    expect(spend(slice, 'a', when(0))).toBe('reserved');
    expect(spend(slice, 'a', when(0))).toBe('reserved');
    const other = { ...pendingOf('a'), reservation: reservation('a', '1Gi', { claim: 'other' }) };
    expect(slice.spend({ ...other, isDryRun: true }, when(0), false)).toEqual(RESERVED);
    expect(slice.spend(other, when(0), true)).toEqual({ kind: 'alreadyReserved' });
    for (const claim of ['of a', 'other']) expect(slice.cancel({ uid: 'a', claim })).toBe(true);
    expect(slice.cancel({ uid: 'a' })).toBe(true);
    expect([roomOf(slice, when(0)), slice.spent.size]).toEqual([9, 1]);
  });

  test('no claim of nobody', () => {
    const anonymous = { ...pendingOf('a'), reservation: withoutClaim(reservation('a')) };
    const kinds = [1, 2].map(() => slice.spend(anonymous, when(0), false)?.kind);
    expect(kinds).toEqual(['reserved', 'alreadyReserved']);
  });

  test('only limited resources of a pod', () => {
    const amounts = amountsOf({ memory: '1Gi', cpu: '99' });
    const asked = { ...pendingOf('a'), reservation: reservation('a', '1Gi', { amounts }) };
    expect(slice.spend(asked, when(0), false)).toEqual(RESERVED);
    expect([...(slice.spent.get('a')?.amounts.keys() ?? [])]).toEqual(['memory']);
  });
});
