import { equalAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import type { LedgerState, Reservation } from './ledger-state.ts';
import { limitedAmounts, onlyLimitedAmounts, sumOfKnown } from './limited-amounts.ts';
import { isSeen, type PodCount } from './pod-count.ts';
import type { Slice } from './slice.ts';

/** What a recount drops or reports beyond the pods. */
export interface RecountOptions {
  /** Whether the shares of namespaces must be exact, and count as a change by themselves. */
  readonly isExact: boolean;
  /** Whether the pod of a reservation will never appear. */
  readonly isExpired: (uid: string) => boolean;
  /** Whether the holder of a slice is gone and all of its pods have appeared or never will. */
  readonly isDead: (slice: Slice) => boolean;
}

/** A ledger's contents, not shared with any other ledger. */
export interface OwnContents extends LedgerState {
  readonly used: Map<string, Quantity>;
  readonly reservations: Map<string, Reservation>;
}

/**
 * The ledger counted anew from all existing pods, plus reservations and slices that have not expired; the state before
 * is not changed.
 */
export function recountLedger(
  before: LedgerState,
  hard: Amounts,
  count: PodCount,
  { isExact, isExpired, isDead }: RecountOptions,
): OwnContents {
  const slices = new Map([...before.slices].filter(([, slice]) => !isDead(slice)));
  const reservations = new Map<string, Reservation>();
  for (const [uid, reservation] of before.reservations) {
    if (!isSeen(count, reservation) && !isExpired(uid)) reservations.set(uid, onlyLimitedAmounts(reservation, hard));
  }
  const uncounted = [...slices.values(), ...reservations.values()].map(({ amounts }) => amounts);
  const used = new Map(sumOfKnown([limitedAmounts(count.total, hard), ...uncounted]));
  return { used, byNamespace: count.byNamespace(isExact), reservations, slices };
}

/** Whether a recount has changed anything that is stored; shares of namespaces only if they are exact. */
export function isOtherCount(before: LedgerState, after: LedgerState, isExact: boolean): boolean {
  const [places, left] = [before, after].map(({ reservations, slices }) => reservations.size + slices.size);
  if (places !== left || !equalAmounts(before.used, after.used)) return true;
  return isExact && !areEqualShares(before.byNamespace, after.byNamespace);
}

function areEqualShares(a: LedgerState['byNamespace'], b: LedgerState['byNamespace']): boolean {
  return (
    a.size === b.size && [...a].every(([namespace, amounts]) => equalAmounts(amounts, b.get(namespace) ?? NO_AMOUNTS))
  );
}
