import {
  openLedger,
  type CountedPod,
  type Ledger,
  type LedgerState,
  type Reservation,
} from '#shared/domain/quota/ledger.ts';
import type { Amounts } from '#shared/domain/model/amounts.ts';
import { largestHolders } from '#shared/domain/quota/largest-holders.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import type { LedgerObject } from './ledger-object.ts';

/** What a wish to reserve came to. `busy` means that nothing could be settled in time. */
export type Settled =
  | { readonly kind: 'reserved' }
  /** By an earlier request for the same pod, whose charge is not ours to take back. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[]; readonly holders: readonly string[] }
  | { readonly kind: 'busy'; readonly why: string }
  /** The quota is no more: there is nothing to be charged. */
  | { readonly kind: 'gone' };

/** Somebody who waits for a reservation, or in a dry run for the answer alone. */
export interface Wish {
  readonly reservation: Reservation;
  readonly isDryRun: boolean;
}

/** Pods listed after `begun` was read. */
export interface Count {
  readonly begun: LedgerObject;
  readonly pods: readonly CountedPod[];
  readonly isExpired: (uid: string) => boolean;
}

/** Everything that one write shall do. */
export interface Batch {
  readonly wishes: readonly Wish[];
  readonly cancelled: readonly string[];
  /** One for which `isSameCount` holds. */
  readonly count: Count | undefined;
}

export interface SettledBatch {
  readonly state: LedgerState;
  /** What the write is; `undefined` when nothing has to be written. */
  readonly write: 'charge' | 'recount' | undefined;
  /** In the order of the wishes; true once the state is written. */
  readonly settled: readonly Settled[];
}

/** Applies a batch to the ledger as it stands. */
export function settleBatch(base: LedgerObject, { wishes, cancelled, count }: Batch): SettledBatch {
  const { hard } = base.quota;
  const ledger = openLedger(base.state, hard);
  if (count !== undefined) ledger.recount(count.pods, count.isExpired);
  for (const uid of cancelled) ledger.cancel(uid);
  const attempts = wishes.map((wish) => attempt(ledger, wish));
  const isCharge = cancelled.length > 0 || attempts.some(({ isChange }) => isChange);
  const state = ledger.state();
  return {
    state,
    write: count !== undefined ? 'recount' : isCharge ? 'charge' : undefined,
    settled: attempts.map(({ settled }) => withHolders(settled, state.byNamespace)),
  };
}

/**
 * Whether no other recount came between. If one did, the list may miss pods whose reservations that one forgot, and
 * must not be used.
 */
export function isSameCount(now: LedgerObject, begun: LedgerObject): boolean {
  const [after, before] = [now.raw.metadata, begun.raw.metadata];
  return now.recounts === begun.recounts && after.generation === before.generation && after.uid === before.uid;
}

interface Attempt {
  readonly settled: Settled;
  readonly isChange: boolean;
}

function attempt(ledger: Ledger, { reservation, isDryRun }: Wish): Attempt {
  const outcome = ledger.reserve(reservation);
  switch (outcome.kind) {
    case 'reserved':
      if (isDryRun) ledger.cancel(reservation.uid);
      return { settled: outcome, isChange: !isDryRun };
    case 'alreadyReserved':
      return { settled: outcome, isChange: false };
    case 'exceeded':
      return { settled: { ...outcome, holders: [] }, isChange: false };
    case 'full':
      return {
        settled: { kind: 'busy', why: 'too many pods were admitted that have not been seen yet' },
        isChange: false,
      };
  }
}

function withHolders(settled: Settled, byNamespace: ReadonlyMap<string, Amounts>): Settled {
  const [first] = settled.kind === 'exceeded' ? settled.exceeded : [];
  if (settled.kind !== 'exceeded' || first === undefined) return settled;
  return { ...settled, holders: largestHolders(byNamespace, first.resource) };
}
