import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { applyBatch, type Batch, type LedgerRecount } from '#shared/domain/quota/replica/apply-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';
import { HOLDER, pendingOf, reservation, sliceOf, stateOf, versionOf } from './replica-rig.ts';

const HARD = amountsOf({ memory: '10Gi' });

/** A ledger of 10Gi with 2Gi reserved for one pod, and a slice of another replica. */
function base(more: Parameters<typeof versionOf>[0] = {}) {
  return versionOf({
    memory: '10Gi',
    state: stateOf('6Gi', [reservation('old', '2Gi')], [sliceOf('other', '4Gi')]),
    ...more,
  });
}

function batch(more: Partial<Batch> = {}): Batch {
  return {
    pending: [],
    cancelled: [],
    count: undefined,
    debts: new Map(),
    isCountDue: false,
    own: undefined,
    ...more,
  };
}

/** A count of pods of 1Gi. */
function count(uids: readonly string[], more: Partial<LedgerRecount> = {}): LedgerRecount {
  const pods = countOf(
    HARD,
    uids.map((uid) => ({ uid, namespace: 'counted', amounts: amountsOf({ memory: '1Gi' }) })),
  );
  return { pods, holds: pods.holds, isExpired: () => false, isDead: () => false, ...more };
}

function own(isDue: boolean): NonNullable<Batch['own']> {
  return { holder: HOLDER, isStored: false, renewals: 1, spent: [], demand: undefined, isDue, cleared: [] };
}

function usedOf({ state }: ReturnType<typeof applyBatch>): string {
  const used = state.used.get('memory');
  return used === undefined ? 'unknown' : formatQuantity(used);
}

describe('applyBatch', () => {
  const dry = pendingOf('dry', '1Gi', { isDryRun: true });

  /** A batch; `seen` are the pods of its count. */
  type Given = Partial<Batch> & { readonly seen?: readonly string[]; readonly isCounted?: false };

  test.each<[string, Given, string | undefined, string]>([
    ['nothing for nothing', {}, undefined, '6Gi'],
    ['a charge for a reservation', { pending: [pendingOf('a')] }, 'charge', '7Gi'],
    ['nothing for a dry run', { pending: [dry] }, undefined, '6Gi'],
    ['a charge for a cancellation', { cancelled: [{ uid: 'old', claim: 'of old' }] }, 'charge', '4Gi'],
    ['nothing for the cancellation of another', { cancelled: [{ uid: 'old', claim: 'x' }] }, undefined, '6Gi'],
    ['a recount that is due and finds something', { seen: ['p'], isCountDue: true }, 'recount', '7Gi'],
    ['nothing for a recount that is due and finds nothing', { seen: [], isCountDue: true }, undefined, '6Gi'],
    ['nothing for a recount that is not due', { seen: ['p'] }, undefined, '7Gi'],
    ['a recount with a reservation', { seen: ['p'], pending: [pendingOf('a')] }, 'recount', '8Gi'],
    ['a recount under new limits', { seen: [], isCounted: false }, 'recount', '6Gi'],
    ['a charge for a slice that is due', { own: own(true) }, 'charge', '6Gi'],
    ['nothing for a slice that is not', { own: own(false) }, undefined, '6Gi'],
  ])('writes %s', (_, { seen, isCounted = true, ...given }, write, used) => {
    const applied = applyBatch(base({ isCounted }), batch({ ...given, ...(seen && { count: count(seen) }) }));
    expect([applied.write, usedOf(applied)]).toEqual([write, used]);
  });

  test.each([
    [true, true, true],
    [true, false, true],
    [false, true, false],
    [false, false, true],
  ])('needs exact shares of namespaces where a count is due (%s) or limits are new (counted: %s): %s', (...row) => {
    const [isCountDue, isCounted, isExact] = row;
    const asked: boolean[] = [];
    const counted = count([]);
    const byNamespace = (isExactly: boolean) => {
      asked.push(isExactly);
      return counted.pods.byNamespace(isExactly);
    };
    const pods = { ...counted.pods, byNamespace };
    applyBatch(base({ isCounted }), batch({ isCountDue, count: { ...counted, pods } }));
    expect(asked).toEqual([isExact]);
  });

  test('drops what a count has found or given up, before it reserves', () => {
    const full = base({ state: stateOf('10Gi', [reservation('seen', '5Gi'), reservation('expired', '5Gi')]) });
    const counted = count(['seen'], { isExpired: (uid) => uid === 'expired' });
    const applied = applyBatch(full, batch({ count: counted, pending: [pendingOf('a', '9Gi')] }));
    expect([applied.results, usedOf(applied), [...applied.state.reservations.keys()]]).toEqual([
      [{ kind: 'reserved' }],
      '10Gi',
      ['a'],
    ]);
  });

  test('cancels before it reserves', () => {
    const applied = applyBatch(
      base(),
      batch({ pending: [pendingOf('a', '6Gi')], cancelled: [{ uid: 'old', claim: 'of old' }] }),
    );
    expect([applied.results, usedOf(applied)]).toEqual([[{ kind: 'reserved' }], '10Gi']);
  });

  test('recalls the slices of others for what would fit without them, and refuses the rest with its holders', () => {
    const { results, write, state } = applyBatch(
      base(),
      batch({ pending: [pendingOf('held', '8Gi'), pendingOf('large', '9Gi')] }),
    );
    expect(results).toMatchObject([
      { kind: 'busy', why: 'waiting for other replicas to give back their slices' },
      { kind: 'exceeded', exceeded: [{ resource: 'memory' }], holders: ['a'] },
    ]);
    expect([write, state.slices.get('other')?.recallRequested]).toEqual(['charge', true]);
  });

  test('does not recall what is recalled, and nothing for what does not fit anyway', () => {
    const asked = sliceOf('other', '4Gi', { recallRequested: true });
    const recalled = base({ state: stateOf('6Gi', [reservation('old', '2Gi')], [asked]) });
    expect(applyBatch(recalled, batch({ pending: [pendingOf('held', '8Gi')] })).write).toBeUndefined();
    const { write, state } = applyBatch(base(), batch({ pending: [pendingOf('large', '9Gi')] }));
    expect([write, state.slices.get('other')?.recallRequested]).toEqual([undefined, false]);
  });

  test('says that usage is unknown where it is, and recalls slices that do not name the resource', () => {
    const quota = { ...base().quota, hard: amountsOf({ memory: '10Gi', pods: '9' }) };
    const asked = { ...pendingOf('a'), reservation: reservation('a', '1Gi', { amounts: amountsOf({ pods: '1' }) }) };
    const { results, state } = applyBatch(base({ quota }), batch({ pending: [asked] }));
    expect(results).toEqual([
      { kind: 'busy', why: 'its limits have changed and existing pods have not been recounted yet' },
    ]);
    expect(state.slices.get('other')?.recallRequested).toBe(true);
  });

  test('says that the list is full, and recalls nothing', () => {
    const many = Array.from({ length: 1_000 }, (_each, index) => reservation(`r-${index}`, '0'));
    const full = base({ state: stateOf('4Gi', many, [sliceOf('other', '4Gi')]) });
    const { results, write } = applyBatch(full, batch({ pending: [pendingOf('a')] }));
    expect(results).toEqual([{ kind: 'busy', why: 'too many admitted pods have not appeared yet' }]);
    expect(write).toBeUndefined();
  });

  test('refuses a namespace that wasted the room, and passes its debt on', () => {
    const debts = new Map([['a', 2]]);
    expect(applyBatch(base(), batch({ pending: [pendingOf('a')], debts })).results).toEqual([{ kind: 'wasted' }]);
  });

  test('frees the unspent part of its own slice first, and then takes what is left', () => {
    const state = stateOf('9Gi', [], [sliceOf(HOLDER, '9Gi')]);
    const share = { ...own(true), isStored: true, renewals: 2 };
    const applied = applyBatch(base({ state }), batch({ pending: [pendingOf('a', '10Gi')], own: share }));
    expect([applied.results, applied.slice?.isGivenBack, usedOf(applied)]).toEqual([
      [{ kind: 'reserved' }],
      true,
      '10Gi',
    ]);
  });

  test('answers in the order of the reservations', () => {
    const pending = [pendingOf('a', '3Gi'), pendingOf('b', '3Gi'), pendingOf('c', '1Gi'), pendingOf('a', '3Gi')];
    const other = { ...pendingOf('a', '3Gi'), reservation: reservation('a', '3Gi', { claim: 'other' }) };
    const { results } = applyBatch(base(), batch({ pending: [...pending, other] }));
    expect(results.map(({ kind }) => kind)).toEqual(['reserved', 'busy', 'reserved', 'reserved', 'alreadyReserved']);
  });
});
