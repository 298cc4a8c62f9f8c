import type { LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { decodeLedger } from '#shared/api/quota-ledger.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';

/** A PriorityQuota and what its pods cost already. */
export type CountedQuota = PriorityQuota & Pick<LedgerState, 'used' | 'byNamespace'>;

/** Reads a PriorityQuota with its status. */
export function decodeCountedQuota(raw: unknown): Decoded<CountedQuota> {
  const quota = decodePriorityQuota(raw);
  const ledger = decodeLedger(raw);
  if (!quota.ok) return quota;
  if (!ledger.ok) return ledger;
  const { used, byNamespace } = ledger.value;
  return { ok: true, value: { ...quota.value, used, byNamespace } };
}
