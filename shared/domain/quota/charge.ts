import type { Amounts } from '#shared/domain/model/amounts.ts';
import { NO_AMOUNTS } from '#shared/domain/model/amounts.ts';
import type { Instant, Pod, Resources } from '#shared/domain/model/pod.ts';
import { podLimits, podRequests, QUOTA_VIEW } from '#shared/domain/model/pod-requests.ts';
import type { Quantity } from '#shared/domain/model/quantity.ts';
import { quantityFromInteger } from '#shared/domain/model/quantity.ts';
import { isExtendedResource } from '#shared/domain/model/resource-name.ts';
import { DEVICE_CLASS_PREFIX } from './pod-resources.ts';

const ONE = quantityFromInteger(1, 'DecimalSI');

const COMPUTE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * What a pod costs in quotas: `count/pods` always, all else while it is live.
 * `pkg/quota/v1/evaluator/core/pods.go` PodUsageFunc.
 */
export function podCharge(pod: Pod, now: Instant): Amounts {
  const charge = new Map([['count/pods', ONE]]);
  if (!isLive(pod, now)) return charge;
  const requests = podRequests(pod, QUOTA_VIEW);
  const limits = podLimits(pod, QUOTA_VIEW);
  for (const [name, amount] of resourceCharge({ requests, limits })) charge.set(name, amount);
  return charge;
}

/**
 * What requests and limits cost, under the names that quotas use: `cpu` also as `requests.cpu` and `limits.cpu`,
 * extended resources only as `requests.NAME` (oddity U7). podComputeUsageHelper.
 */
export function resourceCharge({ requests = NO_AMOUNTS, limits = NO_AMOUNTS }: Resources): Amounts {
  const charge = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, amount] of requests) {
    if (COMPUTE.includes(name) || name.startsWith('hugepages-')) charge.set(name, amount);
    if (isChargedAsRequest(name)) charge.set(`requests.${name}`, amount);
  }
  for (const name of COMPUTE) {
    const limit = limits.get(name);
    if (limit !== undefined) charge.set(`limits.${name}`, limit);
  }
  return charge;
}

function isChargedAsRequest(name: string): boolean {
  return (
    COMPUTE.includes(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith(DEVICE_CLASS_PREFIX) ||
    isExtendedResource(name)
  );
}

/** Not ended, and not deleted for longer than its grace period, which is counted a second time (oddity U1). QuotaV1Pod. */
function isLive(pod: Pod, now: Instant): boolean {
  const { phase } = pod.status;
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const { at, gracePeriodSeconds } = pod.deletion ?? {};
  if (at === undefined || gracePeriodSeconds === undefined) return true;
  return now <= at + gracePeriodSeconds * 1000;
}
