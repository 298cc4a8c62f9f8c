import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { Slice } from '#shared/domain/quota/ledger/slice.ts';
import { readAmounts, readBoolean, readInteger, readText, type WireObject } from './wire-object.ts';

/** Reads an entry of `status.slices` of a `plimsoll.dev/v1alpha1` PriorityQuota. */
export function readSlice(entry: WireObject): Slice {
  return {
    holder: readText(entry, 'holder') ?? '',
    amounts: readAmounts(entry, 'amounts') ?? NO_AMOUNTS,
    renewals: readInteger(entry, 'renewals') ?? 0,
    recallRequested: readBoolean(entry, 'wanted'),
  };
}
