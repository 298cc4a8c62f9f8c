import {
  addAmounts,
  type Amounts,
  NO_AMOUNTS,
  addQuantities,
  compareQuantities,
  multiplyQuantity,
  type Quantity,
  quantitySign,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';

/** A charge for a pod that was admitted and has not been seen yet. */
export interface Reservation {
  /** The pod's UID, final in the validating phase; for a resize what `resizeReservationUid` makes of it. */
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** What the pod costs; in a ledger, exactly the resources that were limited when it was reserved. */
  readonly amounts: Amounts;
  /** Informational only: clocks differ between replicas. */
  readonly admittedAt: Instant;
  /** Only for a resize: the pod's generation once the resize is stored, if the API server sets it. */
  readonly generation?: number;
  /** Identifies the request that may cancel it; absent when several requests asked for the same pod, and none may. */
  readonly claim?: string;
  /**
   * A counted pod has its name, whose cost it takes over: both together count as the larger. A replica that cancels it
   * cannot tell what it added, and takes nothing away until the next recount.
   */
  readonly isNameTaken?: boolean;
}

/**
 * The content of a quota's ledger: `used` is the sum of counted pods, reservations and slices. A limited resource
 * missing there was added to the limits later, and its usage is not known yet.
 */
export interface LedgerState {
  readonly used: Amounts;
  /** What pods cost at the last count, in the namespaces with the highest usage, without reservations. */
  readonly byNamespace: ReadonlyMap<string, Amounts>;
  readonly reservations: ReadonlyMap<string, Reservation>;
  /** By holder. */
  readonly slices: ReadonlyMap<string, Slice>;
}

export const EMPTY_LEDGER: LedgerState = {
  used: new Map(),
  byNamespace: new Map(),
  reservations: new Map(),
  slices: new Map(),
};

/** A reservation that two requests rely on: neither may cancel it. */
export function withoutClaim(reservation: Reservation): Reservation {
  const { uid, namespace, pod, amounts, admittedAt, generation, isNameTaken } = reservation;
  return {
    uid,
    namespace,
    pod,
    amounts,
    admittedAt,
    ...(generation !== undefined && { generation }),
    ...(isNameTaken === true && { isNameTaken }),
  };
}

/** A resize adds to what the pod already costs, so each resize request has its own reservation. */
export function resizeReservationUid(podUid: string, requestUid: string): string {
  return `${podUid}.${requestUid}`;
}

/** The pod that a reservation is for. */
export function podUidOf(reservationUid: string): string {
  return reservationUid.split('.', 1)[0] ?? reservationUid;
}

/**
 * The pod that a reservation may become: of the creations with one name, the API server stores one at a time at most, so
 * together they take what the largest of them does. A resize stands for itself.
 */
export function nameOf({ uid, namespace, pod }: Pick<Reservation, 'uid' | 'namespace' | 'pod'>): string {
  return pod === '' || podUidOf(uid) !== uid ? uid : `${namespace}/${pod}`;
}

/** What the counted pod costs that has the name of a reservation, and of which it is not the resize. */
export function costOfName(count: Pick<PodCount, 'costOf'>, reservation: Reservation): Amounts | undefined {
  const { uid, namespace, pod } = reservation;
  return nameOf(reservation) === uid ? undefined : count.costOf(namespace, pod);
}

/** What reservations take together, by the names of their pods. */
export function takenByName(reservations: Iterable<Reservation>): Map<string, Amounts> {
  const taken = new Map<string, Amounts>();
  for (const each of reservations) {
    const name = nameOf(each);
    taken.set(name, largest(taken.get(name), each.amounts));
  }
  return taken;
}

/** The larger amount of each resource, in the resources that both have. */
export function largest(some: Amounts | undefined, others: Amounts): Amounts {
  if (some === undefined) return others;
  const larger = new Map<string, Quantity>();
  for (const [name, amount] of some) {
    const other = others.get(name);
    if (other !== undefined) larger.set(name, compareQuantities(amount, other) < 0 ? other : amount);
  }
  return larger;
}

/** A part of a quota's room that one replica may spend alone. */
export interface Slice {
  /** One run of one process: a name that is never reused. */
  readonly holder: string;
  /** What was spent and not yet counted plus what may still be spent; all of it is in `used`. */
  readonly amounts: Amounts;
  /** Increases with every write of the holder, so that others see it is alive. */
  readonly renewals: number;
  /** Another replica needs the room: the holder must give the slice back at once. */
  readonly recallRequested: boolean;
}

/** The recent demand of one replica. */
export interface Demand {
  readonly pods: number;
  /** The highest cost of any of them, by resource. */
  readonly largest: Amounts;
}

/** Room for this many pods of the largest kind. */
export interface Grant {
  readonly pods: number;
  readonly amounts: Amounts;
}

/** A slice covers this multiple of the recent demand. */
const AHEAD = 2;
/** Share of the free room: several replicas take slices, and near the limit all of them together must leave some. */
const SHARE_OF_ROOM = 1 / 8;
/** Fewer pods are cheaper as reservations. */
const FEWEST_PODS = 4;

/**
 * The slice that a replica may take of `room` (the free amount of every limited resource); `undefined` if it would be
 * too small. At most an eighth of the room, so that the last of it is given out one reservation at a time.
 */
export function sizeSlice({ pods, largest }: Demand, room: Amounts): Grant | undefined {
  let most = pods * AHEAD;
  for (const [resource, free] of room) {
    const cost = largest.get(resource);
    if (cost !== undefined && quantitySign(cost) > 0) most = Math.min(most, timesIn(free, cost) * SHARE_OF_ROOM);
  }
  const size = Math.floor(most);
  if (size < FEWEST_PODS) return undefined;
  return { pods: size, amounts: new Map(Array.from(largest, ([name, cost]) => [name, multiplyQuantity(cost, size)])) };
}

/** How often an amount fits into another; only a share of the result is used, so rounding does no harm. */
function timesIn(whole: Quantity, part: Quantity): number {
  return (Number(whole.mantissa) / Number(part.mantissa)) * 10 ** (whole.exponent - part.exponent);
}

/** Whether `free` is enough in each requested resource. */
export function covers(free: Amounts, asked: Amounts): boolean {
  for (const [name, amount] of asked) {
    if (quantitySign(amount) <= 0) continue;
    const present = free.get(name);
    if (present === undefined || compareQuantities(present, amount) < 0) return false;
  }
  return true;
}

/** The total cost of all pods that a quota counts, in the resources that it limits. */
export interface PodCount {
  readonly total: Amounts;
  /** The usage of the largest namespaces; with many namespaces it may be out of date unless `isExact`. */
  byNamespace(isExact: boolean): ReadonlyMap<string, Amounts>;
  /** The generation of a counted pod, 0 if the API server does not set it; `undefined` for other pods. */
  generationOf(uid: string): number | undefined;
  /** What the counted pod of this name costs; `undefined` if there is none, or if it cannot be read. */
  costOf(namespace: string, name: string): Amounts | undefined;
}

/**
 * Whether a count includes what a reservation is for. The API server stores a resize over the object that it sent us,
 * so once the pod has reached that generation, the resize is included or never will be.
 */
export function isSeen(count: PodCount, { uid, generation }: Pick<Reservation, 'uid' | 'generation'>): boolean {
  if (generation === undefined) return count.generationOf(uid) !== undefined;
  return (count.generationOf(podUidOf(uid)) ?? 0) >= generation;
}

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

const MAX_HOLDERS = 3;

/** The namespaces that use most of a resource, including reservations; largest first, at most three. */
export function largestHolders({ byNamespace, reservations }: LedgerState, resource: string): readonly string[] {
  const held = new Map(Array.from(byNamespace, ([namespace, amounts]) => [namespace, amounts.get(resource) ?? ZERO]));
  for (const { namespace, amounts } of reservations.values()) {
    held.set(namespace, addQuantities(held.get(namespace) ?? ZERO, amounts.get(resource) ?? ZERO));
  }
  return Array.from(held, ([namespace, amount]) => ({ namespace, amount }))
    .filter(({ amount }) => quantitySign(amount) > 0)
    .sort((a, b) => compareQuantities(b.amount, a.amount) || compareTexts(a.namespace, b.namespace))
    .slice(0, MAX_HOLDERS)
    .map(({ namespace }) => namespace);
}
