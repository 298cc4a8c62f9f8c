import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, subtractQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { heldByNamespace, hold, type Held } from './held-by-namespace.ts';
import { ledgerPlaces } from './ledger-size.ts';
import { limitedReservation, onlyLimited, onlyLimitedAmounts } from './limited-amounts.ts';
import { withoutClaim, type LedgerState, type Reservation } from './ledger-state.ts';
import type { PodCount } from './pod-count.ts';
import { isOtherCount, recountLedger, type RecountOptions } from './recount-ledger.ts';
import type { ReservationContext } from './namespace-bounds.ts';
import { denialReasonFor, type DenialReason } from './denial-reason.ts';

export type ReserveOutcome =
  | { readonly kind: 'reserved' }
  /** Another request has reserved for the same pod: no additional charge. */
  | { readonly kind: 'alreadyReserved' }
  | DenialReason;

const RESERVED: ReserveOutcome = { kind: 'reserved' };
const ALREADY_RESERVED: ReserveOutcome = { kind: 'alreadyReserved' };
const NO_DEBTS: ReservationContext['debts'] = new Map();

/**
 * A ledger with pending changes, which are lost unless `state` is written before another replica writes. Only `cancel`
 * and `recount` remove reservations. A recount is correct only if it includes everything that the last one included:
 * then it contains every pod whose reservation was removed (docs/decisions/0006). The cost does not depend on the
 * number of namespaces. `debts` come from wasted-reservations.ts.
 */
export class Ledger {
  readonly #hard: Amounts;
  readonly #debts: ReservationContext['debts'];
  readonly #places: number;
  #used: Map<string, Quantity>;
  #byNamespace: LedgerState['byNamespace'];
  #reservations: Map<string, Reservation>;
  #slices: LedgerState['slices'];
  /** Computed on first use. */
  #held: Map<string, Held> | undefined;
  #isChanged = false;

  constructor(state: LedgerState, hard: Amounts, debts = NO_DEBTS) {
    this.#hard = hard;
    this.#debts = debts;
    this.#places = ledgerPlaces(hard).reservations;
    this.#used = new Map(onlyLimited(state.used, hard));
    this.#byNamespace = state.byNamespace;
    this.#reservations = new Map(state.reservations);
    this.#slices = state.slices;
  }

  /** Whether anything but a recount has changed it. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  state(): LedgerState {
    return {
      used: this.#used,
      byNamespace: this.#byNamespace,
      reservations: this.#reservations,
      slices: this.#slices,
    };
  }

  reserve(reservation: Reservation): ReserveOutcome {
    const outcome = this.preview(reservation);
    const present = this.#reservations.get(reservation.uid);
    if (present !== undefined) this.#disclaim(present, reservation);
    else if (outcome.kind === 'reserved') this.#put(limitedReservation(reservation, this.#hard));
    return outcome;
  }

  /** The outcome that `reserve` would have; changes nothing. */
  preview(reservation: Reservation): ReserveOutcome {
    const present = this.#reservations.get(reservation.uid);
    if (present !== undefined) return isClaimedBy(present, reservation.claim) ? RESERVED : ALREADY_RESERVED;
    return denialReasonFor(reservation, this.#context()) ?? RESERVED;
  }

  /** Cancels a reservation if only its claim relies on it; only for a pod that will never exist. */
  cancel({ uid, claim }: Pick<Reservation, 'uid' | 'claim'>): void {
    const present = this.#reservations.get(uid);
    if (present === undefined || !isClaimedBy(present, claim)) return;
    this.#isChanged = true;
    this.#held = undefined;
    this.#reservations.delete(uid);
    change(this.#used, present.amounts, subtractQuantities);
  }

  /**
   * Recounts from all existing pods, plus reservations and slices that have not expired. Returns whether anything
   * changed.
   */
  recount(count: PodCount, options: RecountOptions): boolean {
    const before = this.state();
    const after = recountLedger(before, this.#hard, count, options);
    this.#used = after.used;
    this.#byNamespace = after.byNamespace;
    this.#reservations = after.reservations;
    this.#slices = after.slices;
    this.#held = undefined;
    return isOtherCount(before, after, options.isExact);
  }

  /** Turns a charge to a slice into a reservation; false if the list of reservations is full. */
  adopt(reservation: Reservation): boolean {
    const present = this.#reservations.get(reservation.uid);
    if (present !== undefined) this.#disclaim(present, reservation);
    else if (this.#reservations.size < this.#places) this.#put(onlyLimitedAmounts(reservation, this.#hard));
    else return false;
    return true;
  }

  #context(): ReservationContext {
    return {
      used: this.#used,
      hard: this.#hard,
      reservations: this.#reservations,
      places: this.#places,
      heldBy: this.#heldBy,
      debts: this.#debts,
    };
  }

  readonly #heldBy = (namespace: string): Held | undefined => {
    this.#held ??= heldByNamespace(this.#reservations.values());
    return this.#held.get(namespace);
  };

  #put(reservation: Reservation): void {
    this.#isChanged = true;
    this.#reservations.set(reservation.uid, reservation);
    if (this.#held !== undefined) hold(this.#held, reservation);
    change(this.#used, reservation.amounts, addQuantities);
    // A resource that this reservation does not name has no known total any more.
    for (const name of this.#used.keys()) if (!reservation.amounts.has(name)) this.#used.delete(name);
  }

  /** Two requests rely on it: neither knows whether the other's answer is used, so neither may cancel it. */
  #disclaim(present: Reservation, { claim }: Reservation): void {
    if (present.claim === undefined || isClaimedBy(present, claim)) return;
    this.#isChanged = true;
    this.#reservations.set(present.uid, withoutClaim(present));
  }
}

function isClaimedBy(reservation: Reservation, claim: string | undefined): boolean {
  return claim !== undefined && reservation.claim === claim;
}

/** Adds to or subtracts from the resources that a sum has, and no others. */
function change(sum: Map<string, Quantity>, amounts: Amounts, by: (a: Quantity, b: Quantity) => Quantity): void {
  for (const [name, present] of sum) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, by(present, amount));
  }
}
