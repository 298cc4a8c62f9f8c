import { OwnSlice, type SliceContext } from '#shared/domain/quota/replica/own-slice.ts';
import type { SharedSlice } from '#shared/domain/quota/replica/apply-batch.ts';
import type { PlacedSlice } from '#shared/domain/quota/ledger/slices.ts';
import type { Slice } from '#shared/domain/quota/ledger/ledger-state.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { HOLDER, pendingOf, SETTINGS, sliceOf, stateOf, versionOf } from './replica-rig.ts';

export const ONE = amountsOf({ memory: '1Gi' });

/** A moment of both clocks, and what the cache shows of the quota. */
export function when(ms: number, more: Partial<SliceContext['observed']> = {}, wall = ms): SliceContext {
  return { now: { monotonic: ms, wall }, observed: { uid: 'u', generation: 1, slices: new Map(), ...more } };
}

export function recalled(renewals: number): Partial<SliceContext['observed']> {
  return { slices: new Map([[HOLDER, sliceOf(HOLDER, '10Gi', { renewals, recallRequested: true })]]) };
}

/** The version that a write makes of a ledger with this slice of ours. */
export function stored(revision: string, slice?: Slice) {
  return versionOf({ revision, state: stateOf('10Gi', [], slice === undefined ? [] : [slice]) });
}

export function charged(count: number, ms = 0, settings = SETTINGS): OwnSlice {
  const slice = new OwnSlice(settings, 0);
  slice.recognise(versionOf());
  for (let index = 0; index < count; index += 1) slice.chargedElsewhere(ONE, when(ms));
  return slice;
}

export function shareOf(slice: OwnSlice, at: SliceContext, base = versionOf()): SharedSlice {
  const shared = slice.share(base, undefined, at);
  if (shared === undefined) throw new Error('a write is still in progress');
  return shared;
}

/** Sends the next write, with so much room for so many pods. */
export function propose(
  slice: OwnSlice,
  at: SliceContext,
  memory: string,
  more: Partial<PlacedSlice> = {},
  base = '1',
): number {
  const version = versionOf({ revision: base });
  const shared = shareOf(slice, at, version);
  const free = amountsOf({ memory });
  slice.propose(
    version,
    shared,
    { state: version.state, free, pods: 10, adopted: [], isGivenBack: false, ...more },
    at,
  );
  return shared.renewals;
}

/** The replica after five pods, with a slice of 10Gi for ten pods, written at 0. */
export function holding(settings = SETTINGS): OwnSlice {
  const slice = charged(5, 0, settings);
  const renewals = propose(slice, when(0), '10Gi');
  slice.recognise(stored('2', sliceOf(HOLDER, '10Gi', { renewals })));
  return slice;
}

export function spend(slice: OwnSlice, uid: string, at: SliceContext, memory = '1Gi'): string {
  return slice.spend(pendingOf(uid, memory), at, false)?.kind ?? 'no room';
}

/** How many pods of 1Gi still fit. */
export function roomOf(slice: OwnSlice, at: SliceContext): number {
  let pods = 0;
  while (pods < 100 && slice.spend(pendingOf('dry', `${pods + 1}Gi`, { isDryRun: true }), at, false)) pods += 1;
  return pods;
}
