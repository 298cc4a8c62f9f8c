import type { QuotaCount } from '#shared/domain/quota/view/quota-counter.ts';
import { ExpiryTracker } from './expiry-tracker.ts';
import { WIDEST_BATCH } from './batch-size.ts';
import type { LedgerVersion } from './ledger-version.ts';
import { OwnSlice, type Moment, type OwnSliceSettings, type ObservedQuota } from './own-slice.ts';
import { ReservationQueue } from './reservation-queue.ts';
import type { Batch, Cancellation, AppliedBatch } from './apply-batch.ts';
import type { PodObservation } from './pod-observation.ts';
import { debtsAt, NO_WASTE, type WasteRecord } from '#shared/domain/quota/ledger/wasted-reservations.ts';

export interface ReplicaSettings extends OwnSliceSettings {
  /** How long a pod may take to appear after it was admitted. */
  readonly reservationMs: number;
}

/** What the replica sees of the cluster's pods. */
export interface LedgerView {
  /** A count for these limits and this scope; `undefined` while not all pods are known. */
  count(version: LedgerVersion): QuotaCount | undefined;
  /** Whether a pod was there and is gone for good; not knowing is no harm. */
  readonly isGone: (podUid: string) => boolean;
  /** The monotonic time as of which nothing is missing in what is seen. */
  readonly provenAt: number;
}

/** What a step looks at beside its own state. */
export interface StepContext {
  readonly now: Moment;
  readonly observed: ObservedQuota;
  readonly view: LedgerView;
}

/** What the replica waits for. */
export type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading' }
  | {
      readonly kind: 'writing';
      readonly batch: Batch;
      readonly applied: AppliedBatch;
      readonly observation: PodObservation;
    }
  | { readonly kind: 'pausing' };

/** The ledger of one quota as one replica of the webhook deals with it. Only `step` changes it. */
export interface Replica {
  readonly settings: ReplicaSettings;
  readonly queue: ReservationQueue;
  readonly slice: OwnSlice;
  readonly expiry: ExpiryTracker;
  /** What namespaces have reserved in vain, as this replica saw it; nothing is known of the time before the process began. */
  waste: WasteRecord;
  phase: Phase;
  /** The state last read or written; `undefined` when it may be old. */
  known: LedgerVersion | undefined;
  /** Whether a turn of work has been asked for. */
  isScheduled: boolean;
  cancelled: readonly Cancellation[];
  isSliceDue: boolean;
  isCountDue: boolean;
  /** Whether the pods have ever been counted, and the count stored. */
  hasCounted: boolean;
  /** Writes that failed in a row. */
  failures: number;
  /** How many reservations may share a write; fewer after one was refused for good. */
  mostInBatch: number;
  /** How many reservations there were when the ledger was last seen. */
  openReservations: number;
  /** Which recount is the last one known, and since when. */
  lastRecount: { readonly id: string; readonly seenAt: number };
  /** Since when the pods that are seen are older than those of the last recount. */
  behindSince: number | undefined;
  /** When the pods were last counted for their own sake. */
  countedAt: number;
  /** A factor around 1: replicas that started together shall not count together for ever. */
  spread: number;
  /** As of when the view was proven current when that was last acted on. */
  provenAt: number;
  /** When those who wait for a change were last queued again, and whether anything has changed since. */
  resumedAt: number;
  hasObserved: boolean;
  /** Some pods that could not be read when they were last counted; `undefined` before. */
  unreadable: readonly string[] | undefined;
}

const IDLE: Phase = { kind: 'idle' };
/** Others' clocks may go at different speeds: the life of their slices is waited for three times. */
const LIVES_WAITED = 3;

/** A replica that knows nothing yet. */
export function createReplica(settings: ReplicaSettings, now: Moment): Replica {
  const { reservationMs, sliceLifeMs } = settings;
  return {
    settings,
    queue: new ReservationQueue(),
    slice: new OwnSlice(settings, now.monotonic),
    expiry: new ExpiryTracker(reservationMs, LIVES_WAITED * sliceLifeMs + reservationMs),
    waste: NO_WASTE,
    phase: IDLE,
    known: undefined,
    isScheduled: false,
    cancelled: [],
    isSliceDue: false,
    isCountDue: false,
    hasCounted: false,
    failures: 0,
    mostInBatch: WIDEST_BATCH,
    openReservations: 0,
    lastRecount: { id: '', seenAt: now.monotonic },
    behindSince: undefined,
    countedAt: -Infinity,
    spread: 1,
    provenAt: -Infinity,
    resumedAt: -Infinity,
    hasObserved: false,
    unreadable: undefined,
  };
}

/** What each namespace owes now for room that it has wasted. */
export function debtsOf({ waste, settings }: Replica, { now }: Pick<StepContext, 'now'>): ReadonlyMap<string, number> {
  return debtsAt(waste, { now: now.monotonic, reservationMs: settings.reservationMs });
}
