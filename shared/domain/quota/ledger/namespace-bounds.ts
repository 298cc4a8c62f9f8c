import { addAmounts, type Amounts } from '#shared/domain/model/amounts.ts';
import { approximateNumber, ZERO } from '#shared/domain/model/quantity.ts';
import { NOTHING_HELD, type Held } from './held-by-namespace.ts';
import type { LedgerState, Reservation } from './ledger-state.ts';

/*
 * A pod that was admitted may be refused by something that is asked after us: another webhook, a quota, a name that is
 * taken. Its reservation stands for minutes all the same, for nothing says that it will not come. These bounds keep one
 * namespace from holding a quota of all with such pods.
 */

/** What a reservation is held against. */
export interface ReservationContext extends Pick<LedgerState, 'used' | 'reservations'> {
  readonly hard: Amounts;
  /** How many reservations the object may hold. */
  readonly places: number;
  /** What a namespace has reserved. */
  readonly heldBy: (namespace: string) => Held | undefined;
  /** By namespace, see `unseen.ts`. */
  readonly debts: ReadonlyMap<string, number>;
}

/** Of what the list has left for it, so that there is always a place for others. */
const PLACES_SHARE = 1 / 2;
/** Below this part of its limit little of a resource is left, and a single pod would be all of it. */
const SMALLEST_ROOM = 1 / 4;
/** All of the room may be wasted once without a consequence: a client that gave up, a rule that somebody forgot. */
const MOST_DEBT = 2;

/** How long the list of reservations may be for a pod of a namespace that may have half of what others leave. */
export function placesFor(namespace: string, { reservations, places, heldBy }: ReservationContext): number {
  // Nobody has more than half of the rest where all together have less than a third.
  if (reservations.size * 3 < places) return places;
  const others = reservations.size - (heldBy(namespace)?.count ?? 0);
  return others + Math.floor((places - others) * PLACES_SHARE);
}

/** Whether a namespace that lately reserved room in vain would hold too much of it again. */
export function wastesRoom({ namespace, amounts }: Reservation, standing: ReservationContext): boolean {
  const debt = standing.debts.get(namespace);
  if (debt === undefined) return false;
  const { amounts: own } = standing.heldBy(namespace) ?? NOTHING_HELD;
  return debt + shareOfRoom(addAmounts(own, amounts), own, standing) > MOST_DEBT;
}

/**
 * The largest share that something is, or would be, of what is free of a limited resource without what its namespace
 * holds already (`own`): 0 to 1.
 */
export function shareOfRoom(amounts: Amounts, own: Amounts, { used, hard }: Pick<ReservationContext, 'used' | 'hard'>): number {
  let largest = 0;
  for (const [name, limit] of hard) {
    const asked = numberOf(amounts, name);
    if (asked <= 0) continue;
    const free = approximateNumber(limit) - numberOf(used, name) + numberOf(own, name);
    largest = Math.max(largest, asked / Math.max(free, approximateNumber(limit) * SMALLEST_ROOM));
  }
  return Math.min(1, largest);
}

function numberOf(amounts: Amounts, name: string): number {
  return approximateNumber(amounts.get(name) ?? ZERO);
}
