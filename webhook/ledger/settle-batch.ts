import { largestHolders } from '#shared/domain/quota/largest-holders.ts';
import { openLedger, type Ledger, type Over, type ReserveOutcome } from '#shared/domain/quota/ledger.ts';
import type { LedgerState, Reservation } from '#shared/domain/quota/ledger-state.ts';
import type { PodCount } from '#shared/domain/quota/pod-count.ts';
import { placeSlice, withoutFree, type OwnShare, type PlacedSlice } from '#shared/domain/quota/place-slice.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { isHeldElsewhere, wantSlices } from '#shared/domain/quota/slices.ts';
import type { LedgerObject } from './ledger-object.ts';

/** What a wish to reserve came to. `busy` means that nothing could be settled in time. */
export type Settled =
  | { readonly kind: 'reserved' }
  /** By another request for the same pod, so that the charge is not ours to take back. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[]; readonly holders: readonly string[] }
  | { readonly kind: 'busy'; readonly why: string }
  /** Too much was reserved lately for pods of this namespace that were then not created. */
  | { readonly kind: 'wasted' }
  /** The quota is no more: there is nothing to be charged. */
  | { readonly kind: 'gone' };

/** Somebody who waits for a reservation, or in a dry run for the answer alone. */
export interface Wish {
  readonly reservation: Reservation;
  readonly isDryRun: boolean;
}

/** Pods listed after `begun` was read, and what of the ledger is over by then. */
export interface Count extends Over {
  readonly begun: LedgerObject;
  readonly pods: PodCount;
}

/** Everything that one write shall do. */
export interface Batch {
  readonly wishes: readonly Wish[];
  readonly cancelled: readonly Pick<Reservation, 'uid' | 'claim'>[];
  /** One for which `isSameCount` holds. */
  readonly count: Count | undefined;
  /** What namespaces have wasted lately. */
  readonly debts: ReadonlyMap<string, number>;
  /** `undefined` leaves the slice of this replica as it is. */
  readonly own: (OwnShare & { readonly isDue: boolean }) | undefined;
}

export interface SettledBatch {
  readonly state: LedgerState;
  /** What the write is; `undefined` when nothing has to be written. */
  readonly write: 'charge' | 'recount' | undefined;
  /** In the order of the wishes; true once the state is written. */
  readonly settled: readonly Settled[];
  /** What the write makes of the slice of this replica. */
  readonly slice: PlacedSlice | undefined;
}

const FULL: Settled = { kind: 'busy', why: 'too many pods were admitted that have not been seen yet' };
const UNKNOWN: Settled = {
  kind: 'busy',
  why: 'its limits have changed, and what was admitted before has not been counted yet',
};
const HELD: Settled = { kind: 'busy', why: 'other replicas were asked to give back the room that they hold' };

/** Applies a batch to the ledger as it stands. */
export function settleBatch(base: LedgerObject, batch: Batch): SettledBatch {
  const { wishes, count, own } = batch;
  const ledger = openWithout(base, batch);
  const outcomes = wishes.map(({ reservation, isDryRun }) => ledger[isDryRun ? 'preview' : 'reserve'](reservation));
  const charged = ledger.state();
  const settled = settledBy(outcomes, charged, own?.holder);
  const asked = settled.some(isInSlices) ? wantSlices(charged, own?.holder) : charged;
  const slice = own && placeSlice(asked, base.quota.hard, own);
  const isDue = ledger.isChanged || asked !== charged || own?.isDue === true;
  return { state: slice?.state ?? asked, write: writeOf(isDue, count), settled, slice };
}

/** Without everything that is over: what is free of our slice, what a count has settled, what was cancelled. */
function openWithout({ state, quota }: LedgerObject, { own, count, cancelled, debts }: Batch): Ledger {
  const ledger = openLedger(own === undefined ? state : withoutFree(state, own), quota.hard, debts);
  if (count !== undefined) ledger.recount(count.pods, count);
  for (const reservation of cancelled) ledger.cancel(reservation);
  return ledger;
}

/**
 * Whether no other recount came between. If one did, the list may miss pods whose reservations that one forgot, and
 * must not be used.
 */
export function isSameCount(now: LedgerObject, begun: LedgerObject): boolean {
  const [after, before] = [now.raw.metadata, begun.raw.metadata];
  return now.recounts === begun.recounts && after.generation === before.generation && after.uid === before.uid;
}

function writeOf(isDue: boolean, count: Count | undefined): SettledBatch['write'] {
  if (count !== undefined) return 'recount';
  return isDue ? 'charge' : undefined;
}

/** Whether the others must give back their slices first: those of earlier limits do not tell what they hold. */
function isInSlices(settled: Settled): boolean {
  return settled === HELD || settled === UNKNOWN;
}

/** Nobody is refused for room that somebody else only might need. */
function settledBy(
  outcomes: readonly ReserveOutcome[],
  charged: LedgerState,
  holder: string | undefined,
): readonly Settled[] {
  const holdersOf = remembered((resource) => largestHolders(charged, resource));
  return outcomes.map((outcome) => {
    if (outcome.kind === 'full') return FULL;
    if (outcome.kind === 'unknown') return UNKNOWN;
    if (outcome.kind !== 'exceeded') return outcome;
    const { exceeded } = outcome;
    return isHeldElsewhere(exceeded, charged, holder)
      ? HELD
      : { kind: 'exceeded', exceeded, holders: holdersOf(exceeded[0]?.resource ?? '') };
  });
}

/** Everybody who is refused at the same time hears of the same holders. */
function remembered<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const found = known.get(key) ?? compute(key);
    known.set(key, found);
    return found;
  };
}
