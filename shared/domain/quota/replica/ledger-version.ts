import type { LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';

/** One stored version of a PriorityQuota with its ledger. */
export interface LedgerVersion {
  /** The UID of the object, which distinguishes it from a recreated one. */
  readonly uid: string;
  /** The generation of limits and scope. */
  readonly generation: number;
  /** The resourceVersion; only compared for equality. */
  readonly revision: string;
  readonly quota: PriorityQuota;
  readonly state: LedgerState;
  /** False until the pods have been counted under this generation; nothing may be reserved before. */
  readonly isCounted: boolean;
  /** Increases only with recounts. */
  readonly recounts: number;
  /** What the view of the last recount held; `undefined` if unknown. */
  readonly counted: ViewRevision | undefined;
}
