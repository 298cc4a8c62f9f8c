import { largestHolders } from '#shared/domain/quota/largest-holders.ts';
import { openLedger, type Ledger, type ReserveOutcome } from '#shared/domain/quota/ledger.ts';
import type { LedgerState, Reservation } from '#shared/domain/quota/ledger-state.ts';
import type { PodCount } from '#shared/domain/quota/pod-count.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import type { LedgerObject } from './ledger-object.ts';

/** What a wish to reserve came to. `busy` means that nothing could be settled in time. */
export type Settled =
  | { readonly kind: 'reserved' }
  /** By another request for the same pod, so that the charge is not ours to take back. */
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
  readonly pods: PodCount;
  readonly isExpired: (uid: string) => boolean;
}

/** Everything that one write shall do. */
export interface Batch {
  readonly wishes: readonly Wish[];
  readonly cancelled: readonly Reservation[];
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
  const ledger = openLedger(base.state, base.quota.hard);
  if (count !== undefined) ledger.recount(count.pods, count.isExpired);
  for (const reservation of cancelled) ledger.cancel(reservation);
  const outcomes = wishes.map(({ reservation, isDryRun }) => ledger[isDryRun ? 'preview' : 'reserve'](reservation));
  const state = ledger.state();
  const holdersOf = remembered((resource) => largestHolders(state, resource));
  return { state, write: writeOf(ledger, count), settled: outcomes.map((outcome) => settledBy(outcome, holdersOf)) };
}

/**
 * Whether no other recount came between. If one did, the list may miss pods whose reservations that one forgot, and
 * must not be used.
 */
export function isSameCount(now: LedgerObject, begun: LedgerObject): boolean {
  const [after, before] = [now.raw.metadata, begun.raw.metadata];
  return now.recounts === begun.recounts && after.generation === before.generation && after.uid === before.uid;
}

function writeOf({ isChanged }: Ledger, count: Count | undefined): SettledBatch['write'] {
  if (count !== undefined) return 'recount';
  return isChanged ? 'charge' : undefined;
}

function settledBy(outcome: ReserveOutcome, holdersOf: (resource: string) => readonly string[]): Settled {
  switch (outcome.kind) {
    case 'reserved':
    case 'alreadyReserved':
      return outcome;
    case 'exceeded':
      return { ...outcome, holders: holdersOf(outcome.exceeded[0]?.resource ?? '') };
    case 'full':
      return { kind: 'busy', why: 'too many pods were admitted that have not been seen yet' };
  }
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
