import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Slice } from './slice.ts';

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
  const { uid, namespace, pod, amounts, admittedAt, generation } = reservation;
  return { uid, namespace, pod, amounts, admittedAt, ...(generation !== undefined && { generation }) };
}

/** A resize adds to what the pod already costs, so each resize request has its own reservation. */
export function resizeReservationUid(podUid: string, requestUid: string): string {
  return `${podUid}.${requestUid}`;
}

/** The pod that a reservation is for. */
export function podUidOf(reservationUid: string): string {
  return reservationUid.split('.', 1)[0] ?? reservationUid;
}
