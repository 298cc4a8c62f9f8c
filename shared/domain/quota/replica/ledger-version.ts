import type { LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';

/** A PriorityQuota with its ledger as it was stored once. */
export interface LedgerVersion {
  /** Of the object: another one of the same name has another. */
  readonly uid: string;
  /** Of its limits and its scope. */
  readonly generation: number;
  /** The resourceVersion: compared for equality alone. */
  readonly revision: string;
  readonly quota: PriorityQuota;
  readonly state: LedgerState;
  /** False until the limits of this generation have been counted: nothing may be reserved before. */
  readonly isCounted: boolean;
  /** Rises with every recount and with nothing else. */
  readonly recounts: number;
  /** What the view held from which the last recount was made; `undefined` where that is not known. */
  readonly counted: ViewRevision | undefined;
}
