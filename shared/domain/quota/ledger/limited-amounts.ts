import { filterAmounts, type Amounts } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, ZERO, type Quantity } from '#shared/domain/quantity/quantity.ts';
import type { Reservation } from './ledger-state.ts';

/**
 * The amounts of exactly the limited resources: every resource of `hard`, zero if the amount does not have it; the same
 * map if nothing changes. An explicit zero means a cost of nothing; a missing resource means an unknown cost.
 */
export function limitedAmounts(amounts: Amounts, hard: Amounts): Amounts {
  if (namesExactly(amounts, hard)) return amounts;
  const limited = new Map<string, Quantity>();
  for (const name of hard.keys()) limited.set(name, amounts.get(name) ?? ZERO);
  return limited;
}

/** A reservation with the amounts of exactly the limited resources. */
export function limitedReservation(reservation: Reservation, hard: Amounts): Reservation {
  return withAmounts(reservation, limitedAmounts(reservation.amounts, hard));
}

/** A reservation without resources that are no longer limited, which would only make the object larger. */
export function onlyLimitedAmounts(reservation: Reservation, hard: Amounts): Reservation {
  return withAmounts(reservation, onlyLimited(reservation.amounts, hard));
}

function withAmounts(reservation: Reservation, amounts: Amounts): Reservation {
  return amounts === reservation.amounts ? reservation : { ...reservation, amounts };
}

function namesExactly(amounts: Amounts, hard: Amounts): boolean {
  if (amounts.size !== hard.size) return false;
  for (const name of hard.keys()) if (!amounts.has(name)) return false;
  return true;
}

/** Without resources that are no longer limited; the same map if nothing changes. */
export function onlyLimited(amounts: Amounts, hard: Amounts): Amounts {
  return filterAmounts(amounts, (name) => hard.has(name));
}

/** The sum, in the resources that all of them have. */
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
