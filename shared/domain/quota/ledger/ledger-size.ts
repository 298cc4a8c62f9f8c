import type { Amounts } from '#shared/domain/model/amounts.ts';
import { utf8Length } from '#shared/domain/model/subdomain-faults.ts';

/** The CRD's bounds. */
const MOST = { reservations: 1_000, slices: 64, namespaces: 100 } as const;
/** Shares of an object that etcd takes up to 1.5 MiB; what managedFields repeats of the slices is another of theirs. */
const BYTES = { reservations: 900 * 1024, slices: 100 * 1024, namespaces: 100 * 1024 } as const;
/** Of an entry with the longest names, UIDs and texts that there are, without its amounts. */
const ENTRY_BYTES = 600;
/** Of an amount beside its name: quotes, colon, comma, and a quantity, which is no larger than its limit. */
const AMOUNT_BYTES = 40;

/** How many reservations, slices and namespaces a ledger may hold, so that the object can always be stored. */
export type LedgerPlaces = Readonly<Record<keyof typeof MOST, number>>;

/** The places of a ledger whose entries name every limited resource. */
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
