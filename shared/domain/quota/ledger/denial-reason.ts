import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, compareQuantities, quantitySign, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { Reservation } from './ledger-state.ts';
import { placesFor, wastesRoom, type ReservationContext } from './namespace-bounds.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';

/** Why nothing is reserved for a pod. */
export type DenialReason =
  | { readonly kind: 'exceeded'; readonly exceeded: readonly Excess[] }
  /** The limits name new resources, and the usage of admitted pods in them is not known yet. */
  | { readonly kind: 'unknown' }
  /** Too much was reserved for pods of its namespace that never appeared. */
  | { readonly kind: 'wasted' }
  /** The list of reservations, or the namespace's part of it, is full. */
  | { readonly kind: 'full' };

const UNKNOWN: DenialReason = { kind: 'unknown' };
const WASTED: DenialReason = { kind: 'wasted' };
const FULL: DenialReason = { kind: 'full' };
const NO_EXCESS: readonly Excess[] = [];

/** Why a new reservation is denied; `undefined` if it is not. */
export function denialReasonFor(reservation: Reservation, standing: ReservationContext): DenialReason | undefined {
  const { used, hard, reservations } = standing;
  const exceeded = findExcess(used, reservation.amounts, hard);
  if (exceeded.length > 0) return { kind: 'exceeded', exceeded };
  if (!isKnown(used, reservation.amounts, hard)) return UNKNOWN;
  if (wastesRoom(reservation, standing)) return WASTED;
  return reservations.size >= placesFor(reservation.namespace, standing) ? FULL : undefined;
}

/**
 * The resources in which an addition exceeds the limit; a resource that is over its limit does not block others (oddity
 * K7).
 */
function findExcess(used: Amounts, added: Amounts, hard: Amounts): readonly Excess[] {
  let exceeded: Excess[] | undefined;
  for (const [resource, limit] of hard) {
    const asked = added.get(resource);
    if (asked === undefined || quantitySign(asked) <= 0) continue;
    const present = used.get(resource);
    if (present === undefined) continue;
    if (compareQuantities(addQuantities(present, asked), limit) > 0)
      (exceeded ??= []).push({ resource, asked, used: present, hard: limit });
  }
  return exceeded ?? NO_EXCESS;
}

/** Whether the usage of every requested limited resource is known. */
function isKnown(used: Amounts, asked: Amounts, hard: Amounts): boolean {
  if (used.size === hard.size) return true;
  return [...hard.keys()].every((name) => used.has(name) || quantitySign(asked.get(name) ?? ZERO) <= 0);
}
