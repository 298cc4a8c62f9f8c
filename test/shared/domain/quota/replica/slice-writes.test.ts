import { beforeEach, describe, expect, test } from 'vitest';
import type { OwnSlice, SliceContext } from '#shared/domain/quota/replica/own-slice.ts';
import { countOf } from '#test/build/pod-count.ts';
import { HOLDER, reservation, sliceOf, versionOf } from './replica-rig.ts';
import { charged, holding, ONE, propose, recalled, roomOf, shareOf, spend, stored, when } from './slice-builders.ts';

describe('a write of a slice in progress', () => {
  let slice: OwnSlice;

  beforeEach(() => {
    slice = holding();
    spend(slice, 'before', when(0));
  });

  test.each([
    ['more', '12Gi', 9],
    ['less', '4Gi', 4],
  ])('of %s than before leaves what is free both with and without it', (_, memory, room) => {
    propose(slice, when(0), memory, {}, '2');
    expect(roomOf(slice, when(0))).toBe(room);
    expect(slice.share(versionOf(), undefined, when(0))).toBeUndefined();
    expect(slice.isDue(when(0))).toBe(true);
  });

  test.each<[string, number]>([
    ['is stored', 11],
    ['is withdrawn', 8],
    ['was overtaken', 8],
    ['may still be stored', 8],
  ])('that %s', (fate, room) => {
    const renewals = propose(slice, when(0), '12Gi', {}, '2');
    spend(slice, 'during', when(0));
    if (fate === 'is stored') slice.recognise(stored('3', sliceOf(HOLDER, '13Gi', { renewals })));
    if (fate === 'is withdrawn') slice.withdraw();
    if (fate === 'was overtaken') slice.recognise(stored('3', sliceOf(HOLDER, '10Gi', { renewals: renewals - 1 })));
    if (fate === 'may still be stored')
      slice.recognise(stored('2', sliceOf(HOLDER, '10Gi', { renewals: renewals - 1 })));
    expect(roomOf(slice, when(0))).toBe(room);
    const isInProgress = slice.share(versionOf(), undefined, when(0)) === undefined;
    expect(isInProgress).toBe(fate === 'may still be stored');
    expect([...slice.spent.keys()]).toEqual(['before', 'during']);
  });

  test('keeps a charge that it clears from being cancelled here', () => {
    propose(slice, when(0), '12Gi', { adopted: ['before'] }, '2');
    spend(slice, 'during', when(0));
    expect(slice.cancel(reservation('before'))).toBe(false);
    expect(slice.cancel(reservation('during'))).toBe(true);
  });

  test('clears what it turned into reservations, once it is stored', () => {
    propose(slice, when(0), '0', { adopted: ['before'], isGivenBack: true, pods: 0 }, '2');
    spend(slice, 'during', when(0), '0');
    slice.recognise(stored('3'));
    expect([...slice.spent.keys()]).toEqual(['during']);
    expect(spend(slice, 'after', when(0), '0')).toBe('no room');
  });

  test('clears what was counted or has expired', () => {
    spend(slice, 'expired', when(0));
    spend(slice, 'open', when(0));
    const pods = countOf(ONE, [{ uid: 'before', namespace: 'a', amounts: ONE }]);
    const count = { pods, holds: pods.holds, isExpired: (uid: string) => uid === 'expired', isDead: () => false };
    const shared = slice.share(versionOf(), count, when(0));
    expect([shared?.cleared, shared?.spent.map(({ uid }) => uid)]).toEqual([['before', 'expired'], ['open']]);
    expect(shareOf(slice, when(0)).cleared).toEqual([]);
  });

  test('numbers each write, so that it can be recognised', () => {
    const first = propose(slice, when(0), '12Gi', {}, '2');
    slice.withdraw();
    expect(propose(slice, when(0), '12Gi', {}, '2')).toBe(first + 1);
  });

  test('belongs to one quota: with another, all charges are forgotten', () => {
    propose(slice, when(0), '12Gi', {}, '2');
    slice.recognise({ ...stored('3'), uid: 'recreated' });
    expect([slice.spent.size, slice.isDue(when(0)), roomOf(slice, when(0))]).toEqual([0, false, 0]);
  });
});

describe('a slice needs a write', () => {
  test.each<[string, (slice: OwnSlice) => void, SliceContext, boolean]>([
    ['not at once', () => undefined, when(0), false],
    ['not before half of its life', () => undefined, when(4_999), false],
    ['after half of its life', () => undefined, when(5_000), true],
    ['not with four of ten pods spent', spendFour, when(0), false],
    ['with five of ten pods spent', spendFive, when(0), true],
    ['not for pods spent while none is wanted', spendThenForgo, when(0), false],
    ['after a recall', () => undefined, when(0, recalled(1)), true],
    ['not after a recall of the slice before', () => undefined, when(0, recalled(0)), false],
    ['under newer limits', () => undefined, when(0, { generation: 2 }), true],
    ['of a quota that was recreated', () => undefined, when(0, { uid: 'other' }), true],
    ['when the process ends', close, when(0), true],
    ['not where it was lost unspent', lose, when(0), false],
    ['where it was lost, for what was spent', spendThenLose, when(0), true],
  ])('%s', (_, action, at, isDue) => {
    const slice = holding();
    action(slice);
    expect([slice.isDue(at), shareOf(slice, at).isDue]).toEqual([isDue, isDue]);
  });

  test('for spent pods, counted from the last write on', () => {
    const slice = holding();
    spendMany(slice, 5);
    const renewals = propose(slice, when(0), '10Gi', {}, '2');
    slice.recognise(stored('3', sliceOf(HOLDER, '15Gi', { renewals })));
    expect(slice.isDue(when(0))).toBe(false);
  });

  function spendMany(slice: OwnSlice, count: number): void {
    for (let index = 0; index < count; index += 1) spend(slice, `pod-${index}`, when(0));
  }

  function spendFour(slice: OwnSlice): void {
    spendMany(slice, 4);
  }

  function spendFive(slice: OwnSlice): void {
    spendMany(slice, 5);
  }

  function close(slice: OwnSlice): void {
    slice.close();
  }

  function spendThenForgo(slice: OwnSlice): void {
    spendMany(slice, 5);
    slice.forgo(when(0));
  }

  function lose(slice: OwnSlice): void {
    slice.recognise(stored('3'));
  }

  function spendThenLose(slice: OwnSlice): void {
    spendMany(slice, 1);
    lose(slice);
  }
});

test('a share says whether the ledger has the slice', () => {
  const slice = charged(5);
  expect(shareOf(slice, when(0))).toMatchObject({ holder: HOLDER, isStored: false, renewals: 1 });
  expect(shareOf(slice, when(0), stored('1', sliceOf(HOLDER, '1Gi')))).toMatchObject({ isStored: true });
  expect(shareOf(slice, when(0), stored('1', sliceOf('other', '1Gi')))).toMatchObject({ isStored: false });
});
