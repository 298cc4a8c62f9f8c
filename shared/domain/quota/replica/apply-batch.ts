import { memoize } from '#shared/domain/base/memoize.ts';
import {
  largestHolders,
  type LedgerState,
  type PodCount,
  type Reservation,
} from '#shared/domain/quota/ledger/ledger-state.ts';
import { Ledger, type RecountOptions, type ReserveOutcome } from '#shared/domain/quota/ledger/ledger.ts';
import {
  isHeldElsewhere,
  type OwnShare,
  type PlacedSlice,
  placeSlice,
  requestRecall,
  withoutFree,
} from '#shared/domain/quota/ledger/slices.ts';
import type { Excess, PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';

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
export interface LedgerRecount extends Omit<RecountOptions, 'isExact'> {
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
  readonly count: LedgerRecount | undefined;
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

function writeOf(count: LedgerRecount | undefined): AppliedBatch['write'] {
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

/** One stored version of a PriorityQuota with its ledger. */
export interface LedgerVersion {
  /** The UID of the object, which distinguishes it from a recreated one. */
  readonly uid: string;
  /** The generation of limits and scope. */
  readonly generation: number;
  /** The resourceVersion; only compared for equality. */
  readonly revision: string;
  readonly quota: PriorityQuota;
  readonly state: LedgerState;
  /** False until the pods have been counted under this generation; nothing may be reserved before. */
  readonly isCounted: boolean;
  /** Increases only with recounts. */
  readonly recounts: number;
  /** What the view of the last recount held; `undefined` if unknown. */
  readonly counted: ViewRevision | undefined;
}

/**
 * Pending reservations in order of arrival. They are queued for the next write, or deferred until something changes.
 * Each is answered before its deadline, whatever else happens.
 */
export class ReservationQueue {
  readonly #open = new Set<PendingReservation>();
  #queued: PendingReservation[] = [];
  #deferred: readonly PendingReservation[] = [];

  /** Whether no reservation waits for the next write. */
  get isEmpty(): boolean {
    return this.#queued.length === 0;
  }

  add(pending: PendingReservation): void {
    this.#open.add(pending);
    this.#queued.push(pending);
  }

  /** Removes and returns the first `most` queued reservations. */
  take(most = Infinity): readonly PendingReservation[] {
    const taken = this.#queued.slice(0, most);
    this.#queued = this.#queued.slice(taken.length);
    return taken;
  }

  /** Puts those that are still open at the front of the queue. */
  putBack(pending: readonly PendingReservation[]): void {
    this.#queued = [...pending.filter((each) => this.#open.has(each)), ...this.#queued];
  }

  defer(pending: readonly PendingReservation[]): void {
    this.#deferred = [...this.#deferred, ...pending];
  }

  /** Queues the deferred reservations again after a change. */
  resume(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    this.putBack(deferred);
  }

  /** Marks it as answered; false if it had already timed out. */
  close(pending: PendingReservation): boolean {
    return this.#open.delete(pending);
  }

  /** Removes and returns those whose deadline has passed. */
  takeLate(now: number): readonly PendingReservation[] {
    const late = [...this.#open].filter(({ giveUpAt }) => giveUpAt <= now);
    if (late.length === 0) return late;
    for (const each of late) this.#open.delete(each);
    this.#queued = this.#queued.filter((each) => this.#open.has(each));
    return late;
  }
}
