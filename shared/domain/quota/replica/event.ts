import type { LedgerState, Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerVersion, PendingReservation, ReservationResult } from './apply-batch.ts';

/** An event for a replica. */
export type LedgerEvent =
  | { readonly kind: 'asked'; readonly pending: PendingReservation }
  /** A charged pod was refused after all. */
  | { readonly kind: 'cancelled'; readonly reservation: Reservation }
  /** The requested turn has come. */
  | { readonly kind: 'due' }
  | { readonly kind: 'read'; readonly result: Read }
  | { readonly kind: 'wrote'; readonly result: LedgerWritten }
  | { readonly kind: 'pauseEnded' }
  /** The cache of quotas or the view of pods has changed. */
  | { readonly kind: 'observed' }
  /** A periodic tick; `random` is in [0, 1). */
  | { readonly kind: 'ticked'; readonly random: number }
  /** The process is shutting down. */
  | { readonly kind: 'closed' };

/** An effect that the shell must carry out, in order. */
export type LedgerEffect =
  /** Answered by `due`, after all requests of the same event-loop turn. */
  | { readonly kind: 'schedule' }
  /** Answered by `read`. */
  | { readonly kind: 'read' }
  /** Answered by `wrote`. */
  | { readonly kind: 'write'; readonly write: LedgerWrite }
  /** Answered by `pauseEnded`, after a random pause that grows with consecutive failures. */
  | { readonly kind: 'pause'; readonly failures: number }
  | { readonly kind: 'answer'; readonly pending: PendingReservation; readonly result: ReservationResult }
  /** A pod was charged, by a write or not. */
  | { readonly kind: 'charged'; readonly path: 'slice' | 'ledger' }
  /** A due recount was done or failed. */
  | { readonly kind: 'recounted'; readonly result: 'done' | 'failed' }
  /** Requests a proof that the view of pods is current. */
  | { readonly kind: 'prove' };

/** A new state for a ledger, which may only replace its base. */
export interface LedgerWrite {
  readonly base: LedgerVersion;
  readonly state: LedgerState;
  /** What the counted view held; `undefined` if nothing was counted. */
  readonly counted: ViewRevision | undefined;
}

/** The parts of a ledger that its correctness depends on; other parts may be pruned by an older CRD. */
export type LedgerPart = 'observedGeneration' | 'recounts' | 'used' | 'slices' | 'reservations';

export type Read = Found | { readonly kind: 'gone' } | Trouble;

export interface Found {
  readonly kind: 'read';
  readonly version: LedgerVersion;
}

export type LedgerWritten =
  | { readonly kind: 'written'; readonly version: LedgerVersion }
  /** The API server pruned these parts; the version is what it stored. */
  | { readonly kind: 'pruned'; readonly version: LedgerVersion; readonly lost: readonly LedgerPart[] }
  /** Another replica has written since. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }
  /** A permanent refusal; nothing was written. */
  | { readonly kind: 'refused'; readonly message: string }
  | Trouble;

/** It is not known whether a write took effect. */
export interface Trouble {
  readonly kind: 'trouble';
  readonly message: string;
}
