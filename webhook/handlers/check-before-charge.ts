import type { Refused } from '#shared/domain/admission/decision.ts';
import { refusalBeforeCharge, type ChargeRequest } from '#shared/domain/admission/refusal-before-charge.ts';
import { OWN_ACCOUNTS } from '#shared/kube/webhook-configurations.ts';
import type { PodSources } from './decide-then-confirm.ts';

/** Says why a pod must not be charged, if so; it never fails. */
export type CheckBeforeCharge = (charge: ChargeRequest) => Promise<Refused | undefined>;

/**
 * Judges from the caches, and a refusal again on live objects: a cache may be a moment behind. Where those cannot be read
 * the refusal stands, for charging would be the worse mistake.
 */
export function checkBeforeCharge({ cluster, liveState }: Pick<PodSources, 'cluster' | 'liveState'>): CheckBeforeCharge {
  return async (charge) => {
    // The entry that judges pods is not asked about our own accounts.
    if (OWN_ACCOUNTS.includes(charge.request.requester.name)) return undefined;
    const refusal = refusalBeforeCharge(charge, cluster());
    if (refusal === undefined) return undefined;
    const live = await liveState(charge.request).catch(() => undefined);
    return live === undefined ? refusal : refusalBeforeCharge(charge, live);
  };
}

/** In a dry run of the whole webhook what would be refused is let in, and so it is charged. */
export const checkNothing: CheckBeforeCharge = () => Promise.resolve(undefined);
