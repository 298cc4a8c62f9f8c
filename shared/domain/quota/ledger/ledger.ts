import {
  type Amounts,
  equalAmounts,
  maxAmounts,
  NO_AMOUNTS,
  addQuantities,
  type Quantity,
  quantitySign,
  subtractQuantities,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import {
  costOfName,
  type Held,
  heldByNamespace,
  hold,
  isSeen,
  largest,
  type LedgerState,
  nameOf,
  type PodCount,
  type Reservation,
  type Slice,
  takenByName,
  withoutClaim,
} from './ledger-state.ts';
import {
  ledgerPlaces,
  limitedAmounts,
  limitedReservation,
  onlyLimited,
  onlyLimitedAmounts,
  sumOfKnown,
  type DenialReason,
  denialReasonFor,
  type ReservationContext,
} from './namespace-bounds.ts';

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
 * then it contains every pod whose reservation was removed (docs/contributing/decisions/quota-ledger.md). The cost does not depend on the
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
  /** Computed on first use: what the reservations of each name take. */
  #taken: Map<string, Amounts> | undefined;
  /** Of the last recount. */
  #count: PodCount | undefined;
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
    else if (outcome.kind === 'reserved') this.#put(limitedReservation(this.#named(reservation), this.#hard));
    return outcome;
  }

  /** The outcome that `reserve` would have; changes nothing. */
  preview(reservation: Reservation): ReserveOutcome {
    const present = this.#reservations.get(reservation.uid);
    if (present !== undefined) return isClaimedBy(present, reservation.claim) ? RESERVED : ALREADY_RESERVED;
    return denialReasonFor({ ...reservation, amounts: this.#beyondName(reservation) }, this.#context()) ?? RESERVED;
  }

  /** Cancels a reservation if only its claim relies on it; only for a pod that will never exist. */
  cancel({ uid, claim }: Pick<Reservation, 'uid' | 'claim'>): void {
    const present = this.#reservations.get(uid);
    if (present === undefined || !isClaimedBy(present, claim)) return;
    this.#isChanged = true;
    this.#held = undefined;
    this.#reservations.delete(uid);
    this.#taken = undefined;
    if (present.isNameTaken !== true) change(this.#used, this.#beyondName(present), subtractQuantities);
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
    this.#taken = undefined;
    this.#count = count;
    return isOtherCount(before, after, options.isExact);
  }

  /** Turns a charge to a slice into a reservation; false if the list of reservations is full. */
  adopt(reservation: Reservation): boolean {
    const present = this.#reservations.get(reservation.uid);
    if (present !== undefined) this.#disclaim(present, reservation);
    else if (this.#reservations.size < this.#places)
      this.#put(onlyLimitedAmounts(this.#named(reservation), this.#hard));
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

  /** What a reservation takes in addition to the others of its name, and to the pod that has it. */
  #beyondName(reservation: Reservation): Amounts {
    const taken = this.#takenByName().get(nameOf(reservation)) ?? NO_AMOUNTS;
    return beyond(reservation.amounts, maxAmounts(taken, this.#costOfName(reservation) ?? NO_AMOUNTS));
  }

  #takenByName(): Map<string, Amounts> {
    return (this.#taken ??= takenByName(this.#reservations.values()));
  }

  #costOfName(reservation: Reservation): Amounts | undefined {
    return this.#count && costOfName(this.#count, reservation);
  }

  /** Whether the name is taken, as far as that is known. */
  #named(reservation: Reservation): Reservation {
    const name = nameOf(reservation);
    // Few names are reserved twice: the others are not looked for among all reservations.
    const isTaken =
      this.#costOfName(reservation) !== undefined ||
      (this.#takenByName().has(name) &&
        [...this.#reservations.values()].some((each) => each.isNameTaken === true && nameOf(each) === name));
    return isTaken ? { ...reservation, isNameTaken: true } : reservation;
  }

  #put(reservation: Reservation): void {
    this.#isChanged = true;
    change(this.#used, this.#beyondName(reservation), addQuantities);
    this.#reservations.set(reservation.uid, reservation);
    const name = nameOf(reservation);
    this.#taken?.set(name, largest(this.#taken.get(name), reservation.amounts));
    if (this.#held !== undefined) hold(this.#held, reservation);
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

function beyond(amounts: Amounts, taken: Amounts): Amounts {
  if (taken.size === 0) return amounts;
  const rest = Array.from(amounts, ([name, amount]): [string, Quantity] => {
    const more = subtractQuantities(amount, taken.get(name) ?? ZERO);
    return [name, quantitySign(more) > 0 ? more : ZERO];
  });
  return new Map(rest);
}

/** Adds to or subtracts from the resources that a sum has, and no others. */
function change(sum: Map<string, Quantity>, amounts: Amounts, by: (a: Quantity, b: Quantity) => Quantity): void {
  for (const [name, present] of sum) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, by(present, amount));
  }
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

/** A ledger's contents, not shared with any other ledger. */
interface OwnContents extends LedgerState {
  readonly used: Map<string, Quantity>;
  readonly reservations: Map<string, Reservation>;
}

/**
 * The ledger counted anew from all existing pods, plus reservations and slices that have not expired; the state before
 * is not changed.
 */
function recountLedger(
  before: LedgerState,
  hard: Amounts,
  count: PodCount,
  { isExact, isExpired, isDead }: RecountOptions,
): OwnContents {
  const slices = new Map([...before.slices].filter(([, slice]) => !isDead(slice)));
  const reservations = new Map<string, Reservation>();
  const costs = new Map<string, Amounts>();
  for (const [uid, reservation] of before.reservations) {
    if (isSeen(count, reservation) || isExpired(uid)) continue;
    const cost = costOfName(count, reservation);
    if (cost !== undefined) costs.set(nameOf(reservation), cost);
    reservations.set(uid, onlyLimitedAmounts(withName(reservation, cost !== undefined), hard));
  }
  const ofSlices = Array.from(slices.values(), ({ amounts }) => amounts);
  const ofNames = Array.from(takenByName(reservations.values()), ([name, taken]) =>
    beyond(taken, costs.get(name) ?? NO_AMOUNTS),
  );
  const uncounted = [...ofSlices, ...ofNames];
  const used = new Map(sumOfKnown([limitedAmounts(count.total, hard), ...uncounted]));
  return { used, byNamespace: count.byNamespace(isExact), reservations, slices };
}

/** The same object unless it says otherwise. */
function withName(reservation: Reservation, isNameTaken: boolean): Reservation {
  return (reservation.isNameTaken ?? false) === isNameTaken ? reservation : { ...reservation, isNameTaken };
}

/** Whether a recount has changed anything that is stored; shares of namespaces only if they are exact. */
function isOtherCount(before: LedgerState, after: LedgerState, isExact: boolean): boolean {
  const [places, left] = [before, after].map(({ reservations, slices }) => reservations.size + slices.size);
  if (places !== left || !equalAmounts(before.used, after.used)) return true;
  return isExact && !areEqualShares(before.byNamespace, after.byNamespace);
}

function areEqualShares(a: LedgerState['byNamespace'], b: LedgerState['byNamespace']): boolean {
  return (
    a.size === b.size && [...a].every(([namespace, amounts]) => equalAmounts(amounts, b.get(namespace) ?? NO_AMOUNTS))
  );
}
