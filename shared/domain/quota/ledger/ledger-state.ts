import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { Slice } from './slice.ts';

/** A charge for a pod that was admitted and has not been seen yet. */
export interface Reservation {
  /** The pod's UID, final in the validating phase; for a resize what `resizeReservationUid` makes of it. */
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** What the pod costs; in a ledger, of every resource that the limits named when it was reserved, and of no other. */
  readonly amounts: Amounts;
  /** For people only: clocks differ between replicas. */
  readonly admittedAt: Instant;
  /** Only of a resize: the pod's generation once it is stored, where the API server says so. */
  readonly generation?: number;
  /** Of the request that may take it back; absent when several have asked for the same pod, and nobody may. */
  readonly claim?: string;
}

/**
 * What the ledger object of a quota holds: `used` is what counted pods, reservations and slices come to together. A
 * limited resource that is missing there has been limited since, and what of it was admitted before is not known yet.
 */
export interface LedgerState {
  readonly used: Amounts;
  /** What pods cost at the last count, in the namespaces that hold most; reservations are not in it. */
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

/** A reservation that two requests rely on: neither may take it back. */
export function withoutClaim(reservation: Reservation): Reservation {
  const { uid, namespace, pod, amounts, admittedAt, generation } = reservation;
  return { uid, namespace, pod, amounts, admittedAt, ...(generation !== undefined && { generation }) };
}

/** A resize adds to what the pod costs already, so that each request for one is reserved by itself. */
export function resizeReservationUid(podUid: string, requestUid: string): string {
  return `${podUid}.${requestUid}`;
}

/** The pod that a reservation is for. */
export function podUidOf(reservationUid: string): string {
  return reservationUid.split('.', 1)[0] ?? reservationUid;
}
