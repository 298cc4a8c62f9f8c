import type { Reservation } from '#shared/domain/quota/ledger-state.ts';
import { debtsAt, noteCount, NOTHING_UNSEEN, type Terms } from '#shared/domain/quota/unseen.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerObject } from './ledger-object.ts';
import type { Count } from './settle-batch.ts';

/** What namespaces have reserved of a quota in vain lately, as this replica saw it in its own counts. */
export interface WastedRoom {
  /** A count of a ledger is about to be written; `spent` is what the replica's own slice was charged with. */
  note(ledger: LedgerObject, count: Count, spent: Iterable<Reservation>): void;
  debts(): ReadonlyMap<string, number>;
}

/** Nothing is known of the time before the process began. */
export function createWastedRoom(clock: Clock, reservationMs: number): WastedRoom {
  let record = NOTHING_UNSEEN;
  const terms = (): Terms => ({ now: clock.monotonic(), reservationMs });
  return {
    note: ({ state, quota: { hard } }, { pods }, spent) => {
      record = noteCount(record, { state, spent, hard, pods }, terms());
    },
    debts: () => debtsAt(record, terms()),
  };
}
