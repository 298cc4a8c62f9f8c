import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { filterAmounts } from '#shared/domain/quantity/amounts.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/quantity/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import type { QuotaRequest } from './request.ts';
import type { ResourceQuota } from './resource-quota.ts';
import { matchesQuota } from './scopes.ts';

/** The amounts that a request adds; only amounts above zero. */
export interface Additions {
  /** Added to a quota that matches the pod. */
  readonly toQuota: (quota: ResourceQuota) => Amounts;
  /** Added to a quota that matched the pod before, too. */
  readonly plain: Amounts;
}

/**
 * A new pod adds its whole cost. An update adds its growth to the quotas that also matched the old pod, and its whole
 * cost to the others; shrinking adds nothing, and an old pod that was never stored is not subtracted (oddity K8).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
export function additions({ operation, oldPod, now }: QuotaRequest, cost: Amounts): Additions {
  const all = filterAmounts(cost, isPositive);
  if (operation !== 'UPDATE' || oldPod?.resourceVersion === undefined) return { toQuota: () => all, plain: all };
  const growth = growthOver(charge(oldPod, now), cost);
  const toQuota = (quota: ResourceQuota): Amounts => {
    const before = matchesQuota(quota, oldPod);
    return before.ok && before.matches ? growth : all;
  };
  return { toQuota, plain: growth };
}

/** `apiserver/pkg/quota/v1/resources.go` SubtractWithNonNegativeResult, without the zeros. */
function growthOver(before: Amounts, after: Amounts): Amounts {
  const growth = new Map<string, Quantity>();
  for (const [name, amount] of after) {
    const former = before.get(name);
    const grown = former === undefined ? amount : subtractQuantities(amount, former);
    if (isPositive(name, grown)) growth.set(name, grown);
  }
  return growth;
}

function isPositive(_name: string, amount: Quantity): boolean {
  return quantitySign(amount) > 0;
}
