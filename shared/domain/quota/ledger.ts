import type { Amounts } from '#shared/domain/model/amounts.ts';
import {
  addQuantities,
  compareQuantities,
  quantitySign,
  subtractQuantities,
  ZERO,
  type Quantity,
} from '#shared/domain/model/quantity.ts';
import { withoutClaim, type LedgerState, type Reservation } from './ledger-state.ts';
import { isSeen, type PodCount } from './pod-count.ts';
import type { Excess } from './refusal.ts';
import { sumOfSlices } from './slices.ts';
import type { Slice } from './slice.ts';

export type ReserveOutcome =
  | { readonly kind: 'reserved' }
  /** By another request for the same pod: it costs nothing more. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[] }
  /** The list of reservations is as long as it may get. */
  | { readonly kind: 'full' };

/** A ledger being changed. What it says is lost unless `state` is written before anybody else writes. */
export interface Ledger {
  reserve(reservation: Reservation): ReserveOutcome;
  /** What `reserve` would say; changes nothing. */
  preview(reservation: Reservation): ReserveOutcome;
  /** Takes a reservation back, if it is still its claim's alone; only for a pod that will never exist. */
  cancel(reservation: Pick<Reservation, 'uid' | 'claim'>): void;
  /** Counts anew from all pods that exist; on top stay reservations and slices that are not over. */
  recount(count: PodCount, over: Over): void;
  /** Puts a charge among the reservations that its slice has paid for so far; false when there is no place. */
  adopt(reservation: Reservation): boolean;
  readonly isChanged: boolean;
  state(): LedgerState;
}

/** What a count need not keep beside the pods that it found. */
export interface Over {
  /** A reservation whose pod will never appear any more. */
  readonly isExpired: (uid: string) => boolean;
  /** A slice whose holder is no more, and all whose pods are there or will never appear. */
  readonly isDead: (slice: Slice) => boolean;
}

/** The CRD's bound on reservations. */
export const MOST_RESERVATIONS = 1_000;

const RESERVED: ReserveOutcome = { kind: 'reserved' };
const ALREADY_RESERVED: ReserveOutcome = { kind: 'alreadyReserved' };
const FULL: ReserveOutcome = { kind: 'full' };
const NO_EXCESS: readonly Excess[] = [];

/**
 * Opens a ledger for changes. A reservation is forgotten by `cancel` and `recount` alone. A recount is right only if
 * the pods were listed, with quorum, after a state was read that no other recount has changed since: then a pod whose
 * reservation is gone was there to be listed (docs/decisions/0006). Nothing here depends on how many namespaces there are.
 */
export function openLedger(state: LedgerState, hard: Amounts): Ledger {
  let used = limited(state.used, hard);
  let { byNamespace } = state;
  const reservations = new Map(state.reservations);
  let { slices } = state;
  let isChanged = false;

  function preview({ uid, claim, amounts }: Reservation): ReserveOutcome {
    const present = reservations.get(uid);
    if (present !== undefined) return isClaimedBy(present, claim) ? RESERVED : ALREADY_RESERVED;
    const exceeded = findExcess(used, amounts, hard);
    if (exceeded.length > 0) return { kind: 'exceeded', exceeded };
    return reservations.size >= MOST_RESERVATIONS ? FULL : RESERVED;
  }

  function reserve(reservation: Reservation): ReserveOutcome {
    const outcome = preview(reservation);
    const present = reservations.get(reservation.uid);
    if (present !== undefined) disclaim(present, reservation);
    else if (outcome.kind === 'reserved') put(reservation);
    return outcome;
  }

  function put(reservation: Reservation): void {
    isChanged = true;
    reservations.set(reservation.uid, reservation);
    change(used, reservation.amounts, addQuantities);
  }

  function adopt(reservation: Reservation): boolean {
    const present = reservations.get(reservation.uid);
    if (present !== undefined) disclaim(present, reservation);
    else if (reservations.size < MOST_RESERVATIONS) put(reservation);
    else return false;
    return true;
  }

  /** Two requests rely on it: neither knows whether the other one's answer counts, so neither may take it back. */
  function disclaim(present: Reservation, { claim }: Reservation): void {
    if (present.claim === undefined || isClaimedBy(present, claim)) return;
    isChanged = true;
    reservations.set(present.uid, withoutClaim(present));
  }

  function cancel({ uid, claim }: Pick<Reservation, 'uid' | 'claim'>): void {
    const present = reservations.get(uid);
    if (present === undefined || !isClaimedBy(present, claim)) return;
    isChanged = true;
    reservations.delete(uid);
    change(used, present.amounts, subtractQuantities);
  }

  function recount(count: PodCount, { isExpired, isDead }: Over): void {
    isChanged = true;
    slices = new Map([...slices].filter(([, slice]) => !isDead(slice)));
    used = limited(count.total, hard);
    change(used, sumOfSlices(slices.values()), addQuantities);
    byNamespace = count.byNamespace;
    for (const [uid, reservation] of reservations) {
      if (isSeen(count, reservation) || isExpired(uid)) reservations.delete(uid);
      else change(used, reservation.amounts, addQuantities);
    }
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

/** The resources for which an addition leaves no room; what the quota is over anyway does not block others (oddity K7). */
function findExcess(used: Amounts, added: Amounts, hard: Amounts): readonly Excess[] {
  let exceeded: Excess[] | undefined;
  for (const [resource, limit] of hard) {
    const asked = added.get(resource);
    if (asked === undefined || quantitySign(asked) <= 0) continue;
    const present = used.get(resource) ?? ZERO;
    if (compareQuantities(addQuantities(present, asked), limit) > 0)
      (exceeded ??= []).push({ resource, asked, used: present, hard: limit });
  }
  return exceeded ?? NO_EXCESS;
}

/** Every limited resource, zero where nothing is used. */
function limited(amounts: Amounts, hard: Amounts): Map<string, Quantity> {
  return new Map([...hard.keys()].map((name) => [name, amounts.get(name) ?? ZERO]));
}

/** Adds to or takes from the resources that a sum has, and no others. */
function change(sum: Map<string, Quantity>, amounts: Amounts, by: (a: Quantity, b: Quantity) => Quantity): void {
  for (const [name, present] of sum) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, by(present, amount));
  }
}
