import type { Amounts } from '#shared/domain/model/amounts.ts';
import {
  addQuantities,
  compareQuantities,
  quantitySign,
  subtractQuantities,
  ZERO,
  type Quantity,
} from '#shared/domain/model/quantity.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { Excess } from './refusal.ts';

/** A charge for a pod that was admitted and has not been seen yet. */
export interface Reservation {
  /** The pod's UID; final in the validating phase. */
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** Everything the pod costs, also what the quota does not limit today. */
  readonly amounts: Amounts;
  /** For people only: clocks differ between replicas. */
  readonly admittedAt: Instant;
}

/** A pod that exists, and what it costs. */
export interface CountedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly amounts: Amounts;
}

/** What the ledger object of a quota holds: `used` is what counted pods and reservations cost together. */
export interface LedgerState {
  readonly used: Amounts;
  readonly byNamespace: ReadonlyMap<string, Amounts>;
  readonly reservations: ReadonlyMap<string, Reservation>;
}

export type ReserveOutcome =
  | { readonly kind: 'reserved' }
  /** The same pod was charged before: a repeated request costs nothing. */
  | { readonly kind: 'alreadyReserved' }
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[] }
  /** The list of reservations is as long as it may get. */
  | { readonly kind: 'full' };

/** A ledger being changed. What it says is lost unless `state` is written before anybody else writes. */
export interface Ledger {
  reserve(reservation: Reservation): ReserveOutcome;
  /** Takes a reservation back; only for a pod that will never exist. */
  cancel(uid: string): void;
  /** Counts anew from all pods that exist; reservations stay on top unless their pod exists or they have expired. */
  recount(pods: Iterable<CountedPod>, isExpired: (uid: string) => boolean): void;
  state(): LedgerState;
}

export const EMPTY_LEDGER: LedgerState = { used: new Map(), byNamespace: new Map(), reservations: new Map() };

/** The CRD's bound on reservations. */
export const MOST_RESERVATIONS = 1_000;

/**
 * Opens a ledger for changes. A reservation is forgotten by `cancel` and `recount` alone. A recount is right only if
 * the pods were listed, with quorum, after a state was read that no other recount has changed since: then a pod whose
 * reservation is gone was there to be listed (docs/decisions/0006).
 */
export function openLedger(state: LedgerState, hard: Amounts): Ledger {
  let used = limited(state.used, hard);
  let byNamespace = copyNested(state.byNamespace);
  const reservations = new Map(state.reservations);

  function add(namespace: string, amounts: Amounts): void {
    addLimited(used, amounts, hard);
    const own = byNamespace.get(namespace) ?? new Map<string, Quantity>();
    byNamespace.set(namespace, own);
    addLimited(own, amounts, hard);
  }

  function reserve(reservation: Reservation): ReserveOutcome {
    if (reservations.has(reservation.uid)) return { kind: 'alreadyReserved' };
    const exceeded = findExcess(used, reservation.amounts, hard);
    if (exceeded.length > 0) return { kind: 'exceeded', exceeded };
    if (reservations.size >= MOST_RESERVATIONS) return { kind: 'full' };
    reservations.set(reservation.uid, reservation);
    add(reservation.namespace, reservation.amounts);
    return { kind: 'reserved' };
  }

  function cancel(uid: string): void {
    const reservation = reservations.get(uid);
    if (reservation === undefined) return;
    reservations.delete(uid);
    subtractLimited(used, reservation.amounts, hard);
    const own = byNamespace.get(reservation.namespace);
    if (own !== undefined) subtractLimited(own, reservation.amounts, hard);
  }

  function recount(pods: Iterable<CountedPod>, isExpired: (uid: string) => boolean): void {
    used = limited(new Map(), hard);
    byNamespace = new Map();
    const seen = new Set<string>();
    for (const { uid, namespace, amounts } of pods) {
      seen.add(uid);
      add(namespace, amounts);
    }
    for (const [uid, { namespace, amounts }] of reservations) {
      if (seen.has(uid) || isExpired(uid)) reservations.delete(uid);
      else add(namespace, amounts);
    }
  }

  return {
    reserve,
    cancel,
    recount,
    state: () => ({ used, byNamespace, reservations }),
  };
}

/** The resources for which an addition leaves no room; what the quota is over anyway does not block others (oddity K7). */
function findExcess(used: Amounts, added: Amounts, hard: Amounts): readonly Excess[] {
  const exceeded: Excess[] = [];
  for (const [resource, limit] of hard) {
    const asked = added.get(resource);
    if (asked === undefined || quantitySign(asked) <= 0) continue;
    const present = used.get(resource) ?? ZERO;
    if (compareQuantities(addQuantities(present, asked), limit) > 0)
      exceeded.push({ resource, asked, used: present, hard: limit });
  }
  return exceeded;
}

/** Every limited resource, zero where nothing is used. */
function limited(amounts: Amounts, hard: Amounts): Map<string, Quantity> {
  return new Map([...hard.keys()].map((name) => [name, amounts.get(name) ?? ZERO]));
}

function copyNested(byNamespace: ReadonlyMap<string, Amounts>): Map<string, Map<string, Quantity>> {
  return new Map(Array.from(byNamespace, ([namespace, amounts]) => [namespace, new Map(amounts)]));
}

function addLimited(sum: Map<string, Quantity>, amounts: Amounts, hard: Amounts): void {
  for (const name of hard.keys()) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, addQuantities(sum.get(name) ?? ZERO, amount));
  }
}

function subtractLimited(sum: Map<string, Quantity>, amounts: Amounts, hard: Amounts): void {
  for (const name of hard.keys()) {
    const amount = amounts.get(name);
    if (amount !== undefined) sum.set(name, subtractQuantities(sum.get(name) ?? ZERO, amount));
  }
}
