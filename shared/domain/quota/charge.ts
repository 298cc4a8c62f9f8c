import { hasEnded } from '#shared/domain/pod/has-ended.ts';
import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import {
  LARGEST_VIEW,
  podLimits,
  podRequests,
  QUOTA_VIEW,
  type PodResourceOptions,
} from '#shared/domain/pod/pod-requests.ts';
import { quantityFromInteger } from '#shared/domain/quantity/quantity.ts';
import { unstatedValues } from './unstated-values.ts';
import { namesOfLimit, namesOfRequest } from './charged-names.ts';

const ONE = quantityFromInteger(1, 'DecimalSI');
const MILLISECONDS = 1000;
/** With this time a deletion is never overdue: a fast clock must not release room too early. */
const BEFORE_ANY_DELETION = 0;

/**
 * What a pod costs each quota that matches it, by resource name. A pod that has ended, or whose deletion is overdue,
 * only counts as an object (oddity U1). `pkg/quota/v1/evaluator/core/pods.go` PodUsageFunc.
 */
export function charge(pod: Pod, now: Instant): Amounts {
  return chargeAsSeen(pod, now, QUOTA_VIEW);
}

/**
 * What a pod costs a PriorityQuota that counts it: never less than a ResourceQuota would charge, so that `used` can
 * only be too high. A pod costs until it is gone, and the spec of a resize counts whatever the pod's conditions are. The
 * charge also says what containers do not state (unstated-values.ts).
 */
export function chargeToPriorityQuota(pod: Pod): Amounts {
  const charged = chargeAsSeen(pod, BEFORE_ANY_DELETION, LARGEST_VIEW);
  return hasEnded(pod) ? charged : new Map([...charged, ...unstatedValues(pod)]);
}

function chargeAsSeen(pod: Pod, now: Instant, view: PodResourceOptions): Amounts {
  const charged = new Map([['count/pods', ONE]]);
  if (!isLive(pod, now)) return charged;
  charged.set('pods', ONE);
  addCharge(charged, podRequests(pod, view), namesOfRequest);
  addCharge(charged, podLimits(pod, view), namesOfLimit);
  return charged;
}

function addCharge(
  charged: Map<string, Quantity>,
  amounts: Amounts,
  namesOf: (resource: string) => readonly string[],
): void {
  for (const [resource, amount] of amounts) {
    for (const name of namesOf(resource)) charged.set(name, amount);
  }
}

/** QuotaV1Pod. Without a stated grace period a deletion is never overdue. */
function isLive(pod: Pod, now: Instant): boolean {
  const { deletion } = pod;
  if (hasEnded(pod)) return false;
  if (deletion?.gracePeriodSeconds === undefined) return true;
  return now <= deletion.at + deletion.gracePeriodSeconds * MILLISECONDS;
}
