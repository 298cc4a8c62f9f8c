import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Instant, Pod, Resources } from '#shared/domain/model/pod.ts';
import type { Quantity } from '#shared/domain/model/quantity.ts';
import { NO_AMOUNTS } from '#shared/domain/model/amounts.ts';
import { podLimits, podRequests, QUOTA_VIEW } from '#shared/domain/model/pod-requests.ts';
import { quantityFromInteger } from '#shared/domain/model/quantity.ts';
import { namesOfLimit, namesOfRequest } from './charged-names.ts';

const ONE = quantityFromInteger(1, 'DecimalSI');
const MILLISECONDS = 1000;

/**
 * What a pod costs each quota that it falls under: quota entry to amount. A pod that has ended, or whose deletion
 * is overdue, costs only its place in storage (oddity U1).
 * `pkg/quota/v1/evaluator/core/pods.go` PodUsageFunc.
 */
export function charge(pod: Pod, now: Instant): Amounts {
  const stored: readonly [string, Quantity] = ['count/pods', ONE];
  if (!isLive(pod, now)) return new Map([stored]);
  const amounts = { requests: podRequests(pod, QUOTA_VIEW), limits: podLimits(pod, QUOTA_VIEW) };
  return new Map([stored, ['pods', ONE], ...resourceCharge(amounts)]);
}

/** What requests and limits are charged as, entry by entry. podComputeUsageHelper. */
export function resourceCharge({ requests = NO_AMOUNTS, limits = NO_AMOUNTS }: Resources): Amounts {
  return new Map([...chargeAs(namesOfRequest, requests), ...chargeAs(namesOfLimit, limits)]);
}

function chargeAs(namesOf: (resource: string) => readonly string[], amounts: Amounts): [string, Quantity][] {
  return Array.from(amounts).flatMap(([resource, amount]) => {
    return namesOf(resource).map((name): [string, Quantity] => [name, amount]);
  });
}

/** QuotaV1Pod. Without a stated grace period a deletion is never overdue. */
function isLive({ status, deletion }: Pod, now: Instant): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return false;
  if (deletion?.gracePeriodSeconds === undefined) return true;
  return now <= deletion.at + deletion.gracePeriodSeconds * MILLISECONDS;
}
