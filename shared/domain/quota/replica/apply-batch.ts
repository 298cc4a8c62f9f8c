import { memoize } from '#shared/domain/model/memoize.ts';
import { largestHolders } from '#shared/domain/quota/ledger/largest-holders.ts';
import { Ledger, type ReserveOutcome } from '#shared/domain/quota/ledger/ledger.ts';
import type { RecountOptions } from '#shared/domain/quota/ledger/recount-ledger.ts';
import type { LedgerState, Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PodCount } from '#shared/domain/quota/ledger/pod-count.ts';
import { placeSlice, withoutFree, type OwnShare, type PlacedSlice } from '#shared/domain/quota/ledger/place-slice.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { isHeldElsewhere, requestRecall } from '#shared/domain/quota/ledger/slices.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerVersion } from './ledger-version.ts';

/** The result of a pending reservation. `busy` means that there was no result in time. */
export type ReservationResult =
  | { readonly kind: 'reserved' }
  /** Another request reserved for the same pod, so this one must not cancel the charge. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[]; readonly holders: readonly string[] }
  | { readonly kind: 'busy'; readonly why: string }
  /** Too much was recently reserved for pods of this namespace that were then not created. */
  | { readonly kind: 'wasted' }
  /** The quota no longer exists: there is nothing to charge. */
  | { readonly kind: 'gone' };

/** A reservation that a request waits for; in a dry run, only the answer. */
export interface PendingReservation {
  readonly reservation: Reservation;
  readonly isDryRun: boolean;
  /** By the monotonic clock of this process. */
  readonly giveUpAt: number;
}

/** A count of the pods that may be written to the ledger, and which reservations and slices have expired. */
export interface Count extends Omit<RecountOptions, 'isExact'> {
  readonly pods: PodCount;
  /** What the counted view held. */
  readonly holds: ViewRevision;
}

/** A slice as input to a write, and which of its charges are cleared. */
export interface SharedSlice extends OwnShare {
  readonly isDue: boolean;
  /** UIDs that were counted or have expired. */
  readonly cleared: readonly string[];
}

/** A reservation to cancel, by the request that made it. */
export type Cancellation = Pick<Reservation, 'uid' | 'claim'>;

/** Everything that one write does. */
export interface Batch {
  readonly pending: readonly PendingReservation[];
  readonly cancelled: readonly Cancellation[];
  readonly count: Count | undefined;
  /** The debts of namespaces for wasted room. */
  readonly debts: ReadonlyMap<string, number>;
  /** Whether the count is written although no request waits. */
  readonly isCountDue: boolean;
  /** `undefined` leaves the slice of this replica as it is. */
  readonly own: SharedSlice | undefined;
}

export interface AppliedBatch {
  readonly state: LedgerState;
  /** The kind of write; `undefined` if nothing has to be written. */
  readonly write: 'charge' | 'recount' | undefined;
  /** In the order of the pending reservations; valid once the state is written. */
  readonly results: readonly ReservationResult[];
  /** The slice of this replica after the write. */
  readonly slice: PlacedSlice | undefined;
}

const FULL: ReservationResult = { kind: 'busy', why: 'too many admitted pods have not appeared yet' };
const UNKNOWN: ReservationResult = {
  kind: 'busy',
  why: 'its limits have changed and existing pods have not been recounted yet',
};
const HELD: ReservationResult = { kind: 'busy', why: 'waiting for other replicas to give back their slices' };

/** Applies a batch to a version of the ledger. */
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
 * Opens the ledger without the free part of our slice, without what a count has cleared, and without cancelled
 * reservations. A count alone is written only if it is due and changes something.
 */
function openWithout({ state, quota, isCounted }: LedgerVersion, { own, count, cancelled, debts, isCountDue }: Batch) {
  const ledger = new Ledger(own === undefined ? state : withoutFree(state, own), quota.hard, debts);
  const isDue = isCountDue || !isCounted;
  const isNews = count !== undefined && ledger.recount(count.pods, { ...count, isExact: isDue });
  for (const reservation of cancelled) ledger.cancel(reservation);
  return { ledger, isRecounted: count !== undefined && (!isCounted || (isCountDue && isNews)) };
}

/**
 * Whether other replicas must first give back their slices; slices made under earlier limits do not say what they hold
 * of new resources.
 */
function isInSlices(result: ReservationResult): boolean {
  return result === HELD || result === UNKNOWN;
}

/** No reservation is refused because of room that another replica only holds in reserve. */
function resultsOf(
  outcomes: readonly ReserveOutcome[],
  charged: LedgerState,
  holder: string | undefined,
): readonly ReservationResult[] {
  // All refusals of one batch name the same holders.
  const holdersOf = memoize((resource: string) => largestHolders(charged, resource));
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
