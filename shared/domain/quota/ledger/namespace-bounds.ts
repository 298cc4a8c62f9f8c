import {
  addAmounts,
  type Amounts,
  filterAmounts,
  addQuantities,
  approximateNumber,
  compareQuantities,
  quantitySign,
  ZERO,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import type { Excess } from '#shared/domain/quota/priority-quota.ts';
import { utf8Length } from '#shared/domain/labels/label-selector.ts';
import { type Held, type LedgerState, NOTHING_HELD, type Reservation } from './ledger-state.ts';

/*
 * A pod that was admitted may be refused by something that is asked after us: another webhook, a quota, a name that is
 * taken. Its reservation stands for minutes all the same, for nothing says that it will not come. These bounds keep one
 * namespace from holding a quota of all with such pods.
 */

/** The state of a ledger that a reservation is checked against. */
export interface ReservationContext extends Pick<LedgerState, 'used' | 'reservations'> {
  readonly hard: Amounts;
  /** How many reservations the object can store. */
  readonly places: number;
  /** The reservations of a namespace. */
  readonly heldBy: (namespace: string) => Held | undefined;
  /** By namespace; see wasted-reservations.ts. */
  readonly debts: ReadonlyMap<string, number>;
}

/** Share of the free list entries that a namespace may take, so that others always find one. */
const PLACES_SHARE = 1 / 2;
/** Lower bound of the free room, as a share of the limit: with less, a single pod would be all of it. */
const SMALLEST_ROOM = 1 / 4;
/**
 * A namespace may waste all of the room once without consequences: a client may give up, or a policy may be forgotten.
 */
const MAX_DEBT = 2;

/**
 * How long the list of reservations may be when a pod of this namespace is added: a namespace gets half of what others
 * leave.
 */
function placesFor(namespace: string, { reservations, places, heldBy }: ReservationContext): number {
  // If all namespaces together have less than a third, none has more than half of the rest.
  if (reservations.size * 3 < places) return places;
  const others = reservations.size - (heldBy(namespace)?.count ?? 0);
  return others + Math.floor((places - others) * PLACES_SHARE);
}

/** Whether a namespace that recently wasted room would hold too much of it again. */
function wastesRoom({ namespace, amounts }: Reservation, standing: ReservationContext): boolean {
  const debt = standing.debts.get(namespace);
  if (debt === undefined) return false;
  const { amounts: own } = standing.heldBy(namespace) ?? NOTHING_HELD;
  return debt + shareOfRoom(addAmounts(own, amounts), own, standing) > MAX_DEBT;
}

/**
 * The largest share of a limited resource's free room that the amounts take, 0 to 1; what the namespace already holds
 * (`own`) counts as free.
 */
export function shareOfRoom(
  amounts: Amounts,
  own: Amounts,
  { used, hard }: Pick<ReservationContext, 'used' | 'hard'>,
): number {
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
const MAX_COUNTS = { reservations: 1_000, slices: 64, namespaces: 100 } as const;
/** Shares of an object, which etcd accepts up to 1.5 MiB; managedFields repeats the slices and takes as much again. */
const BYTES = { reservations: 900 * 1024, slices: 100 * 1024, namespaces: 100 * 1024 } as const;
/** Size of an entry with the longest possible names, UIDs and texts, without its amounts. */
const ENTRY_BYTES = 600;
/** Size of an amount without its name: quotes, colon, comma, and a quantity no larger than its limit. */
const AMOUNT_BYTES = 40;

/** How many reservations, slices and namespaces a ledger may have, so that the object can always be stored. */
type LedgerPlaces = Readonly<Record<keyof typeof MAX_COUNTS, number>>;

/** The capacity of a ledger whose entries name every limited resource. */
export function ledgerPlaces(hard: Amounts): LedgerPlaces {
  const bytes = entryBytes(hard);
  const fitting = (part: keyof typeof MAX_COUNTS): number =>
    Math.min(MAX_COUNTS[part], Math.floor(BYTES[part] / bytes));
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
