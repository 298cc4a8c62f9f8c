import type { UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
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
  /** How long a pod may take to appear after its admission. */
  readonly reservationMs: number;
}

/** The replica's view of the cluster's pods. */
export interface LedgerView {
  /** A count under these limits and this scope; `undefined` while not all pods are known. */
  count(version: LedgerVersion): QuotaCount | undefined;
  /** Whether a pod existed and is gone for good; false for an unknown pod is harmless. */
  readonly isGone: (podUid: string) => boolean;
  /** The monotonic time up to which the view is proven complete. */
  readonly provenAt: number;
}

/** The inputs of a step in addition to its state. */
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

/** The state of one quota's ledger in one replica of the webhook. Only `step` changes it. */
export interface Replica {
  readonly settings: ReplicaSettings;
  readonly queue: ReservationQueue;
  readonly slice: OwnSlice;
  readonly expiry: ExpiryTracker;
  /** The room that namespaces have wasted, as observed by this process since its start. */
  waste: WasteRecord;
  phase: Phase;
  /** The version last read or written; `undefined` if it may be out of date. */
  known: LedgerVersion | undefined;
  /** Whether a turn of work has been requested. */
  isScheduled: boolean;
  cancelled: readonly Cancellation[];
  isSliceDue: boolean;
  isCountDue: boolean;
  /** Whether the pods have ever been counted, and the count stored. */
  hasCounted: boolean;
  /** Consecutive failed writes. */
  failures: number;
  /** How many reservations may share a write; fewer after a permanent refusal. */
  mostInBatch: number;
  /** The number of reservations when the ledger was last seen. */
  openReservations: number;
  /** The last known recount, and since when it is known. */
  lastRecount: { readonly id: string; readonly seenAt: number };
  /** Since when the view has been behind the last recount. */
  behindSince: number | undefined;
  /** When the last periodic recount was due. */
  countedAt: number;
  /** A random factor around 1, so that replicas that started together do not keep counting together. */
  spread: number;
  /** The proof time that was last acted on. */
  provenAt: number;
  /** When deferred reservations were last queued again, and whether anything has changed since. */
  resumedAt: number;
  hasObserved: boolean;
  /** At the last count; `undefined` before it. */
  uncharged: UnchargedPods | undefined;
}

const IDLE: Phase = { kind: 'idle' };
/** Clocks of other replicas may run at different speeds, so three lifetimes of their slices must pass. */
const LIVES_WAITED = 3;

/** Creates the initial state of a replica. */
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
    uncharged: undefined,
  };
}

/** The current debt of each namespace for wasted room. */
export function debtsOf({ waste, settings }: Replica, { now }: Pick<StepContext, 'now'>): ReadonlyMap<string, number> {
  return debtsAt(waste, { now: now.monotonic, reservationMs: settings.reservationMs });
}
