import type { Amounts } from '#shared/domain/model/amounts.ts';
import { filterAmounts, subtractAmounts } from '#shared/domain/model/amounts.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { quantitySign } from '#shared/domain/model/quantity.ts';
import { podCharge } from './charge.ts';
import type { QuotaRequest } from './quota-request.ts';
import type { ResourceQuota } from './resource-quota.ts';
import { matchesQuota } from './scopes.ts';

/** What a request costs a quota that did not count the pod before, and one that did. Zeros are left out. */
export interface RequestCost {
  readonly whole: Amounts;
  /** Shrinking is not growth and lowers nothing (oddity K8). */
  readonly growth: Amounts;
}

/** The cost of a request that charges the pod with `charge`. An old pod without version counts as new (oddity K8). */
export function requestCost(request: QuotaRequest, charge: Amounts, now: Instant): RequestCost {
  const whole = filterAmounts(charge, (_, amount) => quantitySign(amount) !== 0);
  if (request.operation === 'CREATE' || request.oldPod.resourceVersion === undefined) return { whole, growth: whole };
  const difference = subtractAmounts(charge, podCharge(request.oldPod, now));
  return { whole, growth: filterAmounts(difference, (_, amount) => quantitySign(amount) > 0) };
}

/** What a request adds to a quota that matches the pod: a pod that moves into a scope is charged whole. */
export function addedTo(quota: ResourceQuota, request: QuotaRequest, cost: RequestCost): Amounts {
  return countedBefore(quota, request) ? cost.growth : cost.whole;
}

function countedBefore(quota: ResourceQuota, request: QuotaRequest): boolean {
  if (request.operation === 'CREATE') return false;
  const before = matchesQuota(quota, request.oldPod);
  return before.kind === 'evaluated' && before.matches;
}
