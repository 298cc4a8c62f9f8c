import type { QuotaCount, UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
import { debtsAt, NO_WASTE, OWED_AFTER_MS, type WasteRecord } from '#shared/domain/quota/ledger/wasted-reservations.ts';
import type { Slice } from '#shared/domain/quota/ledger/ledger-state.ts';
import {
  type AppliedBatch,
  type Batch,
  type Cancellation,
  type LedgerRecount,
  type LedgerVersion,
  ReservationQueue,
} from './apply-batch.ts';
import { type Moment, type ObservedQuota, OwnSlice, type OwnSliceSettings } from './own-slice.ts';

export interface ReplicaSettings extends OwnSliceSettings {
  /** How long a pod may take to appear after its admission. */
  readonly reservationMs: number;
}

/** The replica's view of the cluster's pods. */
export interface LedgerView {
  /** A count under these limits and this scope; `undefined` while not all pods are known. */
  count(version: LedgerVersion): QuotaCount | undefined;
  /** Whether a pod of this name is known to exist; false for an unknown pod only charges more. */
  readonly isNameTaken: (namespace: string, name: string) => boolean;
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

/** What an observation of the pods means for a ledger. */
export type PodObservation =
  | { readonly kind: 'counted'; readonly count: LedgerRecount }
  /** The last recount is newer than our view: ours would miss pods. */
  | { readonly kind: 'behind' }
  /** Not all pods are known yet. */
  | { readonly kind: 'blind' };

interface Silence {
  readonly renewals: number;
  readonly since: number;
}

/**
 * Tracks since when pods of reservations are missing and since when holders of slices have not written, by the
 * monotonic clock of this process only: clocks of other replicas may differ.
 */
class ExpiryTracker {
  #missedSince: ReadonlyMap<string, number> = new Map();
  #silentSince: ReadonlyMap<string, Silence> = new Map();
  readonly #reservationMs: number;
  readonly #silenceMs: number;

  /** A pod may take `reservationMs` to appear; a slice is dead when its holder has not written for `silenceMs`. */
  constructor(reservationMs: number, silenceMs: number) {
    this.#reservationMs = reservationMs;
    this.#silenceMs = silenceMs;
  }

  /** Sets the reservations that have no pod now. */
  missing(uids: Iterable<string>, now: number): void {
    this.#missedSince = new Map(Array.from(uids, (uid) => [uid, this.#missedSince.get(uid) ?? now]));
  }

  /** Sets the current slices. */
  slices(slices: Iterable<Slice>, now: number): void {
    this.#silentSince = new Map(
      Array.from(slices, ({ holder, renewals }) => {
        const before = this.#silentSince.get(holder);
        return [holder, before?.renewals === renewals ? before : { renewals, since: now }];
      }),
    );
  }

  /**
   * Whether a pod will never appear: it had not appeared in a view proven complete at `provenAt`, and by then its time
   * was over.
   */
  isExpired(uid: string, provenAt: number): boolean {
    const since = this.#missedSince.get(uid);
    return since !== undefined && since + this.#reservationMs <= provenAt;
  }

  /** Whether a slice has no effect any more that is not known at `provenAt`. */
  isDead({ holder, renewals }: Slice, provenAt: number): boolean {
    const silence = this.#silentSince.get(holder);
    return silence?.renewals === renewals && silence.since + this.#silenceMs <= provenAt;
  }

  /** Whether something has expired that only needs a proof that the view is complete. */
  needsProof(now: number, provenAt: number): boolean {
    const isOverdue = (dueAt: number): boolean => dueAt <= now && dueAt > provenAt;
    for (const since of this.#missedSince.values())
      if (isOverdue(since + this.#reservationMs) || isOverdue(since + OWED_AFTER_MS)) return true;
    for (const { since } of this.#silentSince.values()) if (isOverdue(since + this.#silenceMs)) return true;
    return false;
  }
}

/** The most reservations in one write while no write was refused. */
export const WIDEST_BATCH = 1_000;

/**
 * After a write with `pending` reservations was refused permanently, the next one takes half of them, so that a bad
 * entry is soon isolated.
 */
export function narrowed(pending: number): number {
  return Math.max(1, pending >> 1);
}

/** After a successful write, or when the bad entry is out. */
export function widened(most: number): number {
  return Math.min(WIDEST_BATCH, most * 2);
}
