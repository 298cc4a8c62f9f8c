import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Quantity } from '#shared/domain/model/quantity.ts';
import { filterAmounts } from '#shared/domain/model/amounts.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/model/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import type { QuotaRequest } from './request.ts';
import type { ResourceQuota } from './resource-quota.ts';
import { matchesQuota } from './scopes.ts';

/** What a request adds; only amounts above zero. */
export interface Additions {
  /** To a quota that the pod falls under. */
  readonly toQuota: (quota: ResourceQuota) => Amounts;
  /** To a quota that the pod has fallen under ever since it is there. */
  readonly plain: Amounts;
}

/**
 * A new pod adds all it costs. An update adds its growth to the quotas that the old pod fell under too and all of it to
 * the others; shrinking adds nothing, and an old pod that was never stored is not subtracted (oddity K8).
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
