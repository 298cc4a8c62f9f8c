import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import {
  heldByNamespace,
  type HeldByNamespace,
  isSeen,
  type LedgerState,
  NOTHING_HELD,
  type PodCount,
  podUidOf,
  type Reservation,
} from './ledger-state.ts';
import { ledgerPlaces, shareOfRoom } from './namespace-bounds.ts';

/**
 * Reservations whose pods have not appeared, and the share of a quota's room that each namespace has recently wasted
 * with them. A debt of 1 is all of the room; it decays over eight reservation lifetimes.
 *
 * reserved → (a count without its pod) missed → (a count proven to include everything ten seconds later) owed → (its
 * pod appears after all) repaid
 */
export interface WasteRecord {
  /** By UID of the reservation. */
  readonly missed: ReadonlyMap<string, Missed>;
  /** By namespace. */
  readonly debts: ReadonlyMap<string, Debt>;
}

/** Times are monotonic, in milliseconds. */
interface Missed {
  readonly since: number;
  /** Share of the room, once it is owed. */
  readonly share: number | undefined;
}

interface Debt {
  readonly share: number;
  readonly at: number;
}

/** A ledger at the time of a count by this replica. */
export interface CountedLedger {
  readonly state: LedgerState;
  /** Charges to the replica's own slice, which are not among the reservations. */
  readonly spent: Iterable<Reservation>;
  readonly hard: Amounts;
  readonly pods: PodCount;
  /** The time up to which the count is proven complete, by the clock of the terms. */
  readonly provenAt: number;
}

/** What the decay of a debt depends on: the time and the lifetime of a reservation. */
export interface DebtTerms {
  readonly now: number;
  readonly reservationMs: number;
}

export const NO_WASTE: WasteRecord = { missed: new Map(), debts: new Map() };

/** The API server stores a pod shortly after its admission; a reservation without a pod after this time is owed. */
export const OWED_AFTER_MS = 10_000;
const LIVES_TO_PAY = 8;

/** The record after another count. */
export function noteCount(record: WasteRecord, counted: CountedLedger, terms: DebtTerms): WasteRecord {
  const held = heldByNamespace(counted.state.reservations.values());
  const missed = new Map<string, Missed>();
  const changes = new Map<string, number>();
  for (const reservation of awaited(counted)) {
    const { uid, namespace } = reservation;
    const before = record.missed.get(uid);
    const isMissed = !isSeen(counted.pods, reservation);
    const after = isMissed
      ? missedAgain(before, terms.now, counted, () => shareOf(reservation, counted, held))
      : undefined;
    if (after !== undefined) missed.set(uid, after);
    changes.set(namespace, (changes.get(namespace) ?? 0) + owed(after) - owed(before));
  }
  return { missed, debts: changed(record.debts, changes, terms) };
}

/** The current debt of each namespace that has one. */
export function debtsAt({ debts }: WasteRecord, terms: DebtTerms): ReadonlyMap<string, number> {
  const unpaid = Array.from(debts, ([namespace, debt]): [string, number] => [namespace, remaining(debt, terms)]);
  return new Map(unpaid.filter(([, share]) => share > 0));
}

/** Without metadata.generation of pods it is not visible whether a resize was stored, so such resizes are left out. */
function awaited({ state, spent }: CountedLedger): readonly Reservation[] {
  const all = [...state.reservations.values(), ...spent];
  return all.filter(({ uid, generation }) => generation !== undefined || podUidOf(uid) === uid);
}

function missedAgain(
  before: Missed | undefined,
  now: number,
  { provenAt }: CountedLedger,
  share: () => number,
): Missed {
  const since = before?.since ?? now;
  const isOwed = before?.share === undefined && provenAt - since >= OWED_AFTER_MS;
  return { since, share: isOwed ? share() : before?.share };
}

function owed(missed: Missed | undefined): number {
  return missed?.share ?? 0;
}

/** The share of the room or of the list entries, whichever is larger. */
function shareOf({ namespace, amounts }: Reservation, { state, hard }: CountedLedger, held: HeldByNamespace): number {
  const own = held.get(namespace) ?? NOTHING_HELD;
  const places = ledgerPlaces(hard).reservations - state.reservations.size + own.count;
  return Math.max(shareOfRoom(amounts, own.amounts, { used: state.used, hard }), 1 / Math.max(1, places));
}

function changed(
  debts: WasteRecord['debts'],
  changes: ReadonlyMap<string, number>,
  terms: DebtTerms,
): ReadonlyMap<string, Debt> {
  const after = new Map<string, Debt>();
  for (const namespace of new Set([...debts.keys(), ...changes.keys()])) {
    const share = remaining(debts.get(namespace), terms) + (changes.get(namespace) ?? 0);
    if (share > 0) after.set(namespace, { share, at: terms.now });
  }
  return after;
}

function remaining(debt: Debt | undefined, { now, reservationMs }: DebtTerms): number {
  if (debt === undefined) return 0;
  return Math.max(0, debt.share - (now - debt.at) / (LIVES_TO_PAY * reservationMs));
}
