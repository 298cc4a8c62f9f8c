import { type Amounts, filterAmounts } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, approximateNumber, type Quantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import { utf8Length } from '#shared/domain/labels/subdomain-faults.ts';
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

/** The limits of the CRD. */
const MOST = { reservations: 1_000, slices: 64, namespaces: 100 } as const;
/** Shares of an object, which etcd accepts up to 1.5 MiB; managedFields repeats the slices and takes as much again. */
const BYTES = { reservations: 900 * 1024, slices: 100 * 1024, namespaces: 100 * 1024 } as const;
/** Size of an entry with the longest possible names, UIDs and texts, without its amounts. */
const ENTRY_BYTES = 600;
/** Size of an amount without its name: quotes, colon, comma, and a quantity no larger than its limit. */
const AMOUNT_BYTES = 40;

/** How many reservations, slices and namespaces a ledger may have, so that the object can always be stored. */
type LedgerPlaces = Readonly<Record<keyof typeof MOST, number>>;

/** The capacity of a ledger whose entries name every limited resource. */
export function ledgerPlaces(hard: Amounts): LedgerPlaces {
  const bytes = entryBytes(hard);
  const fitting = (part: keyof typeof MOST): number => Math.min(MOST[part], Math.floor(BYTES[part] / bytes));
  return { reservations: fitting('reservations'), slices: fitting('slices'), namespaces: fitting('namespaces') };
}

function entryBytes(hard: Amounts): number {
  let bytes = ENTRY_BYTES;
  for (const name of hard.keys()) bytes += utf8Length(name) + AMOUNT_BYTES;
  return bytes;
}

/**
 * The namespaces with the largest shares, sorted by name; at most `most`, and among equal shares the first by name.
 * There may be ten thousand namespaces, so only ties at the cutoff are sorted.
 */
export function largestNamespaces(shares: ReadonlyMap<string, number>, most: number): readonly string[] {
  const least = shares.size <= most ? 0 : (Float64Array.from(shares.values()).sort().at(-most) ?? 0);
  const larger: string[] = [];
  const equal: string[] = [];
  for (const [name, share] of shares) {
    if (share > least) larger.push(name);
    else if (share === least) equal.push(name);
  }
  return [...larger, ...equal.sort().slice(0, most - larger.length)].sort();
}

/**
 * The largest ratio of an amount to its limit; both lists have the same order of resources. With a limit of zero, any
 * usage is infinite.
 */
export function largestShare(used: readonly Quantity[], limits: readonly Quantity[]): number {
  return used.reduce((largest, amount, index) => {
    const share = approximateNumber(amount) / approximateNumber(limits[index] ?? ZERO);
    return share > largest ? share : largest;
  }, 0);
}
