import { addAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Reservation } from './ledger-state.ts';

/** The sum of the reservations of one namespace. */
export interface Held {
  readonly count: number;
  readonly amounts: Amounts;
}

export type HeldByNamespace = ReadonlyMap<string, Held>;

export const NOTHING_HELD: Held = { count: 0, amounts: NO_AMOUNTS };

/** What each namespace has reserved. */
export function heldByNamespace(reservations: Iterable<Reservation>): Map<string, Held> {
  const held = new Map<string, Held>();
  for (const reservation of reservations) hold(held, reservation);
  return held;
}

/** Adds a reservation. */
export function hold(held: Map<string, Held>, { namespace, amounts }: Reservation): void {
  const before = held.get(namespace) ?? NOTHING_HELD;
  held.set(namespace, { count: before.count + 1, amounts: addAmounts(before.amounts, amounts) });
}
