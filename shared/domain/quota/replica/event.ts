import type { LedgerState, Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerVersion } from './ledger-version.ts';
import type { PendingReservation, ReservationResult } from './apply-batch.ts';

/** Something that happened to a replica. */
export type LedgerEvent =
  | { readonly kind: 'asked'; readonly pending: PendingReservation }
  /** A pod was refused after all. */
  | { readonly kind: 'cancelled'; readonly reservation: Reservation }
  /** The turn of work has come that was asked for. */
  | { readonly kind: 'turnCame' }
  | { readonly kind: 'read'; readonly result: Read }
  | { readonly kind: 'wrote'; readonly result: Written }
  | { readonly kind: 'pauseEnded' }
  /** The cache of quotas or the view of pods has changed. */
  | { readonly kind: 'observed' }
  /** Time has passed; `random` is in [0, 1). */
  | { readonly kind: 'ticked'; readonly random: number }
  /** The process is about to end. */
  | { readonly kind: 'closed' };

/** What a replica wants done, in order. */
export type LedgerEffect =
  /** Answered by `turnCame`, once everybody who asks in the same turn has asked. */
  | { readonly kind: 'takeTurn' }
  /** Answered by `read`. */
  | { readonly kind: 'read' }
  /** Answered by `wrote`. */
  | { readonly kind: 'write'; readonly write: LedgerWrite }
  /** Answered by `pauseEnded`, after a pause at random that grows with the failures in a row. */
  | { readonly kind: 'pause'; readonly failures: number }
  | { readonly kind: 'answer'; readonly pending: PendingReservation; readonly result: ReservationResult }
  /** A pod was charged, by a write or not. */
  | { readonly kind: 'charged'; readonly path: 'slice' | 'ledger' }
  /** The pods were counted for their own sake, or could not be. */
  | { readonly kind: 'recounted'; readonly result: 'done' | 'failed' }
  /** A proof is wanted that the view of pods is current. */
  | { readonly kind: 'prove' };

/** Another state for a ledger, in place of the one that it is based on and of no other. */
export interface LedgerWrite {
  readonly base: LedgerVersion;
  readonly state: LedgerState;
  /** What the view held that was counted; `undefined` where nothing was. */
  readonly counted: ViewRevision | undefined;
}

/** The parts of a ledger on which its laws rest; what else an older CRD leaves out is a convenience. */
export type LedgerPart = 'observedGeneration' | 'recounts' | 'used' | 'slices' | 'reservations';

export type Read = Found | { readonly kind: 'gone' } | Trouble;

export interface Found {
  readonly kind: 'read';
  readonly version: LedgerVersion;
}

export type Written =
  | { readonly kind: 'written'; readonly version: LedgerVersion }
  /** All but these parts, which the API server does not know; the version is what is stored. */
  | { readonly kind: 'pruned'; readonly version: LedgerVersion; readonly lost: readonly LedgerPart[] }
  /** Another replica has written since. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }
  /** For good: it would be refused again. Nothing was written. */
  | { readonly kind: 'refused'; readonly message: string }
  | Trouble;

/** Not known whether a write took effect. */
export interface Trouble {
  readonly kind: 'trouble';
  readonly message: string;
}
