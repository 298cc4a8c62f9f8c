import { largestHolders } from '#shared/domain/quota/ledger/largest-holders.ts';
import { openLedger, type RecountOptions, type ReserveOutcome } from '#shared/domain/quota/ledger/ledger.ts';
import type { LedgerState, Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PodCount } from '#shared/domain/quota/ledger/pod-count.ts';
import { placeSlice, withoutFree, type OwnShare, type PlacedSlice } from '#shared/domain/quota/ledger/place-slice.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { isHeldElsewhere, requestRecall } from '#shared/domain/quota/ledger/slices.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerVersion } from './ledger-version.ts';

/** What became of a pending reservation. `busy` means that nothing could be settled in time. */
export type ReservationResult =
  | { readonly kind: 'reserved' }
  /** By another request for the same pod, so that the charge is not ours to take back. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[]; readonly holders: readonly string[] }
  | { readonly kind: 'busy'; readonly why: string }
  /** Too much was reserved lately for pods of this namespace that were then not created. */
  | { readonly kind: 'wasted' }
  /** The quota is no more: there is nothing to be charged. */
  | { readonly kind: 'gone' };

/** A reservation that somebody waits for, or in a dry run the answer alone. */
export interface PendingReservation {
  readonly reservation: Reservation;
  readonly isDryRun: boolean;
  /** By the monotonic clock of this process. */
  readonly giveUpAt: number;
}

/** A count of the pods that may be written over the ledger, and what else of the ledger is over. */
export interface Count extends Omit<RecountOptions, 'isExact'> {
  readonly pods: PodCount;
  /** What the view held that was counted. */
  readonly holds: ViewRevision;
}

/** A share in a slice, and what of it is over. */
export interface SharedSlice extends OwnShare {
  readonly isDue: boolean;
  /** UIDs that were counted or have expired. */
  readonly cleared: readonly string[];
}

/** A reservation that is taken back by whom it was made for. */
export type Cancellation = Pick<Reservation, 'uid' | 'claim'>;

/** Everything that one write shall do. */
export interface Batch {
  readonly pending: readonly PendingReservation[];
  readonly cancelled: readonly Cancellation[];
  readonly count: Count | undefined;
  /** What namespaces have wasted lately. */
  readonly debts: ReadonlyMap<string, number>;
  /** Whether the count is written though nobody waits for a write. */
  readonly isCountDue: boolean;
  /** `undefined` leaves the slice of this replica as it is. */
  readonly own: SharedSlice | undefined;
}

export interface AppliedBatch {
  readonly state: LedgerState;
  /** What the write is; `undefined` when nothing has to be written. */
  readonly write: 'charge' | 'recount' | undefined;
  /** In the order of the pending reservations; true once the state is written. */
  readonly results: readonly ReservationResult[];
  /** What the write makes of the slice of this replica. */
  readonly slice: PlacedSlice | undefined;
}

const FULL: ReservationResult = { kind: 'busy', why: 'too many pods were admitted that have not been seen yet' };
const UNKNOWN: ReservationResult = {
  kind: 'busy',
  why: 'its limits have changed, and what was admitted before has not been counted yet',
};
const HELD: ReservationResult = { kind: 'busy', why: 'other replicas were asked to give back the room that they hold' };

/** Applies a batch to the ledger as it stands. */
export function applyBatch(base: LedgerVersion, batch: Batch): AppliedBatch {
  const { pending, own, count } = batch;
  const { ledger, isRecounted } = openWithout(base, batch);
  const outcomes = pending.map(({ reservation, isDryRun }) => ledger[isDryRun ? 'preview' : 'reserve'](reservation));
  const charged = ledger.state();
  const results = resultsOf(outcomes, charged, own?.holder);
  const asked = results.some(isInSlices) ? requestRecall(charged, own?.holder) : charged;
  const slice = own && placeSlice(asked, base.quota.hard, own);
  const isWritten = [isRecounted, ledger.isChanged, asked !== charged, own?.isDue].includes(true);
  return { state: slice?.state ?? asked, write: isWritten ? writeOf(count) : undefined, results, slice };
}

function writeOf(count: Count | undefined): AppliedBatch['write'] {
  return count === undefined ? 'charge' : 'recount';
}

/**
 * Without everything that is over: what is free of our slice, what a count has settled, what was cancelled. A count alone
 * is worth a write where it is due and tells something new.
 */
function openWithout({ state, quota, isCounted }: LedgerVersion, { own, count, cancelled, debts, isCountDue }: Batch) {
  const ledger = openLedger(own === undefined ? state : withoutFree(state, own), quota.hard, debts);
  const isDue = isCountDue || !isCounted;
  const isNews = count !== undefined && ledger.recount(count.pods, { ...count, isExact: isDue });
  for (const reservation of cancelled) ledger.cancel(reservation);
  return { ledger, isRecounted: count !== undefined && (!isCounted || (isCountDue && isNews)) };
}

/** Whether the others must give back their slices first: those of earlier limits do not tell what they hold. */
function isInSlices(result: ReservationResult): boolean {
  return result === HELD || result === UNKNOWN;
}

/** Nobody is refused for room that somebody else only might need. */
function resultsOf(
  outcomes: readonly ReserveOutcome[],
  charged: LedgerState,
  holder: string | undefined,
): readonly ReservationResult[] {
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
