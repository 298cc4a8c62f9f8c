import { equalAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, subtractQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { heldByNamespace, hold, type Held } from './held-by-namespace.ts';
import { ledgerPlaces } from './ledger-size.ts';
import { limitedAmounts, limitedReservation, onlyLimited, sumOfKnown } from './limited-amounts.ts';
import { withoutClaim, type LedgerState, type Reservation } from './ledger-state.ts';
import { isSeen, type PodCount } from './pod-count.ts';
import type { ReservationContext } from './namespace-bounds.ts';
import { denialReasonFor, type DenialReason } from './denial-reason.ts';
import type { Slice } from './slice.ts';

export type ReserveOutcome =
  | { readonly kind: 'reserved' }
  /** Another request has reserved for the same pod: no additional charge. */
  | { readonly kind: 'alreadyReserved' }
  | DenialReason;

/** A ledger with pending changes. They are lost unless `state` is written before another replica writes. */
export interface Ledger {
  reserve(reservation: Reservation): ReserveOutcome;
  /** The outcome that `reserve` would have; changes nothing. */
  preview(reservation: Reservation): ReserveOutcome;
  /** Cancels a reservation if only its claim relies on it; only for a pod that will never exist. */
  cancel(reservation: Pick<Reservation, 'uid' | 'claim'>): void;
  /**
   * Recounts from all existing pods, plus reservations and slices that have not expired. Returns whether anything
   * changed.
   */
  recount(count: PodCount, over: RecountOptions): boolean;
  /** Turns a charge to a slice into a reservation; false if the list of reservations is full. */
  adopt(reservation: Reservation): boolean;
  /** Whether anything but a recount has changed it. */
  readonly isChanged: boolean;
  state(): LedgerState;
}

/** What a recount drops or reports beyond the pods. */
export interface RecountOptions {
  /** Whether the shares of namespaces must be exact, and count as a change by themselves. */
  readonly isExact: boolean;
  /** Whether the pod of a reservation will never appear. */
  readonly isExpired: (uid: string) => boolean;
  /** Whether the holder of a slice is gone and all of its pods have appeared or never will. */
  readonly isDead: (slice: Slice) => boolean;
}

const RESERVED: ReserveOutcome = { kind: 'reserved' };
const ALREADY_RESERVED: ReserveOutcome = { kind: 'alreadyReserved' };
const NO_DEBTS: ReservationContext['debts'] = new Map();

/**
 * Opens a ledger for changes. Only `cancel` and `recount` remove reservations. A recount is correct only if it includes
 * everything that the last one included: then it contains every pod whose reservation was removed
 * (docs/decisions/0006). The cost does not depend on the number of namespaces. `debts` come from
 * wasted-reservations.ts.
 */
export function openLedger(state: LedgerState, hard: Amounts, debts = NO_DEBTS): Ledger {
  const places = ledgerPlaces(hard).reservations;
  let used = new Map(onlyLimited(state.used, hard));
  let { byNamespace } = state;
  const reservations = new Map(state.reservations);
  let { slices } = state;
  /** Computed on first use. */
  let held: Map<string, Held> | undefined;
  let isChanged = false;

  function heldBy(namespace: string): Held | undefined {
    held ??= heldByNamespace(reservations.values());
    return held.get(namespace);
  }

  function preview(reservation: Reservation): ReserveOutcome {
    const present = reservations.get(reservation.uid);
    if (present !== undefined) return isClaimedBy(present, reservation.claim) ? RESERVED : ALREADY_RESERVED;
    return denialReasonFor(reservation, { used, hard, reservations, places, heldBy, debts }) ?? RESERVED;
  }

  function reserve(reservation: Reservation): ReserveOutcome {
    const outcome = preview(reservation);
    const present = reservations.get(reservation.uid);
    if (present !== undefined) disclaim(present, reservation);
    else if (outcome.kind === 'reserved') put(limitedReservation(reservation, hard));
    return outcome;
  }

  function put(reservation: Reservation): void {
    isChanged = true;
    reservations.set(reservation.uid, reservation);
    if (held !== undefined) hold(held, reservation);
    change(used, reservation.amounts, addQuantities);
    // A resource that this reservation does not name has no known total any more.
    for (const name of used.keys()) if (!reservation.amounts.has(name)) used.delete(name);
  }

  function adopt(reservation: Reservation): boolean {
    const present = reservations.get(reservation.uid);
    if (present !== undefined) disclaim(present, reservation);
    else if (reservations.size < places) put(trimmed(reservation));
    else return false;
    return true;
  }

  /** Two requests rely on it: neither knows whether the other's answer is used, so neither may cancel it. */
  function disclaim(present: Reservation, { claim }: Reservation): void {
    if (present.claim === undefined || isClaimedBy(present, claim)) return;
    isChanged = true;
    reservations.set(present.uid, withoutClaim(present));
  }

  function cancel({ uid, claim }: Pick<Reservation, 'uid' | 'claim'>): void {
    const present = reservations.get(uid);
    if (present === undefined || !isClaimedBy(present, claim)) return;
    isChanged = true;
    held = undefined;
    reservations.delete(uid);
    change(used, present.amounts, subtractQuantities);
  }

  function recount(count: PodCount, { isExact, isExpired, isDead }: RecountOptions): boolean {
    const before = { used, byNamespace, places: reservations.size + slices.size };
    held = undefined;
    slices = new Map([...slices].filter(([, slice]) => !isDead(slice)));
    byNamespace = count.byNamespace(isExact);
    for (const [uid, reservation] of reservations) {
      if (isSeen(count, reservation) || isExpired(uid)) reservations.delete(uid);
      else reservations.set(uid, trimmed(reservation));
    }
    const uncounted = [...slices.values(), ...reservations.values()].map(({ amounts }) => amounts);
    used = new Map(sumOfKnown([limitedAmounts(count.total, hard), ...uncounted]));
    if (before.places !== reservations.size + slices.size || !equalAmounts(before.used, used)) return true;
    return isExact && !areEqualShares(before.byNamespace, byNamespace);
  }

  /** Drops resources that are no longer limited, which would only make the object larger. */
  function trimmed(reservation: Reservation): Reservation {
    const amounts = onlyLimited(reservation.amounts, hard);
    return amounts === reservation.amounts ? reservation : { ...reservation, amounts };
  }

  return {
    reserve,
    preview,
    cancel,
    recount,
    adopt,
    get isChanged() {
      return isChanged;
    },
    state: () => ({ used, byNamespace, reservations, slices }),
  };
}

function isClaimedBy(reservation: Reservation, claim: string | undefined): boolean {
  return claim !== undefined && reservation.claim === claim;
}

function areEqualShares(a: LedgerState['byNamespace'], b: LedgerState['byNamespace']): boolean {
  return (
    a.size === b.size && [...a].every(([namespace, amounts]) => equalAmounts(amounts, b.get(namespace) ?? NO_AMOUNTS))
  );
}

/** Adds to or subtracts from the resources that a sum has, and no others. */
function change(sum: Map<string, Quantity>, amounts: Amounts, by: (a: Quantity, b: Quantity) => Quantity): void {
  for (const [name, present] of sum) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, by(present, amount));
  }
}
