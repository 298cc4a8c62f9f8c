import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { utf8Length } from '#shared/domain/labels/subdomain-faults.ts';

/** The limits of the CRD. */
const MOST = { reservations: 1_000, slices: 64, namespaces: 100 } as const;
/** Shares of an object, which etcd accepts up to 1.5 MiB; managedFields repeats the slices and takes as much again. */
const BYTES = { reservations: 900 * 1024, slices: 100 * 1024, namespaces: 100 * 1024 } as const;
/** Size of an entry with the longest possible names, UIDs and texts, without its amounts. */
const ENTRY_BYTES = 600;
/** Size of an amount without its name: quotes, colon, comma, and a quantity no larger than its limit. */
const AMOUNT_BYTES = 40;

/** How many reservations, slices and namespaces a ledger may have, so that the object can always be stored. */
export type LedgerPlaces = Readonly<Record<keyof typeof MOST, number>>;

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
