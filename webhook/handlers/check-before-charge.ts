import type { Refused } from '#shared/domain/admission/decision.ts';
import { refusalBeforeCharge, type ChargeRequest } from '#shared/domain/admission/refusal-before-charge.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import type { PodSources } from './decide-then-confirm.ts';

/** Returns why a pod must not be charged, if there is a reason; never rejects. */
export type CheckBeforeCharge = (charge: ChargeRequest) => Promise<Refused | undefined>;

/**
 * Decides from the caches, and checks a refusal on live objects because a cache may lag. If those cannot be read, the
 * refusal stands: charging by mistake would be worse.
 */
export function checkBeforeCharge({
  cluster,
  liveState,
}: Pick<PodSources, 'cluster' | 'liveState'>): CheckBeforeCharge {
  return async (charge) => {
    // The webhook entry for pods does not cover our own accounts.
    if (OWN_ACCOUNTS.includes(charge.request.requester.name)) return undefined;
    const refusal = refusalBeforeCharge(charge, cluster());
    if (refusal === undefined) return undefined;
    const live = await liveState(charge.request).catch(() => undefined);
    return live === undefined ? refusal : refusalBeforeCharge(charge, live);
  };
}

/** In DryRun mode, a pod that would be refused is admitted, so it is charged. */
export const checkNothing: CheckBeforeCharge = () => Promise.resolve(undefined);
