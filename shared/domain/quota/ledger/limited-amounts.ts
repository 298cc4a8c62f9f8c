import { filterAmounts, type Amounts } from '#shared/domain/model/amounts.ts';
import { addQuantities, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';
import type { Reservation } from './ledger-state.ts';

/**
 * What of an amount a quota limits: every resource of `hard`, zero where there is none of it; the same map where that is
 * what it says already. A zero that stands there says that something costs nothing; a resource that is missing, that its
 * cost was never known.
 */
export function limitedAmounts(amounts: Amounts, hard: Amounts): Amounts {
  if (namesExactly(amounts, hard)) return amounts;
  const limited = new Map<string, Quantity>();
  for (const name of hard.keys()) limited.set(name, amounts.get(name) ?? ZERO);
  return limited;
}

/** A reservation that says of every limited resource what it costs, and of no other. */
export function limitedReservation(reservation: Reservation, hard: Amounts): Reservation {
  const amounts = limitedAmounts(reservation.amounts, hard);
  return amounts === reservation.amounts ? reservation : { ...reservation, amounts };
}

function namesExactly(amounts: Amounts, hard: Amounts): boolean {
  if (amounts.size !== hard.size) return false;
  for (const name of hard.keys()) if (!amounts.has(name)) return false;
  return true;
}

/** Without what is not limited any more; the same map where that is nothing. */
export function onlyLimited(amounts: Amounts, hard: Amounts): Amounts {
  return filterAmounts(amounts, (name) => hard.has(name));
}

/** What they come to together, in the resources of which every one of them says what it costs. */
export function sumOfKnown(all: readonly Amounts[]): Amounts {
  const [first = new Map<string, Quantity>(), ...others] = all;
  const sum = new Map(first);
  for (const amounts of others) {
    for (const [name, present] of sum) {
      const amount = amounts.get(name);
      if (amount === undefined) sum.delete(name);
      else sum.set(name, addQuantities(present, amount));
    }
  }
  return sum;
}
