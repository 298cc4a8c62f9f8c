import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { Quantity } from '#shared/domain/model/quantity.ts';
import { addAmounts, filterAmounts, sortedNames } from '#shared/domain/model/amounts.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { addQuantities, compareQuantities, ZERO } from '#shared/domain/model/quantity.ts';
import type { Excess, QuotaRefusal } from './refusal.ts';
import { forbid } from './refusal.ts';
import type { ResourceQuota } from './resource-quota.ts';

/** `used` after a request; everything that the request does not touch stays as it is (oddity K10). */
export interface Charged {
  readonly kind: 'charged';
  readonly used: Amounts;
}

/**
 * Charges an addition to a quota, or refuses it. Only what the request adds is compared: a quota that is over its
 * limit otherwise does not block (oddity K7).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
export function chargeQuota(pod: Pod, quota: ResourceQuota, addition: Amounts): Charged | QuotaRefusal {
  const asked = filterAmounts(addition, (name) => quota.hard.has(name));
  const exceeded = sortedNames(asked).flatMap((name) => findExcess(quota, asked, name));
  if (exceeded.length > 0) return refuseExcess(pod, quota, exceeded);
  return { kind: 'charged', used: addAmounts(quota.used, asked) };
}

function findExcess(quota: ResourceQuota, addition: Amounts, resource: string): readonly Excess[] {
  const [asked, used, hard] = [addition, quota.used, quota.hard].map((amounts) => amounts.get(resource) ?? ZERO);
}

function refuseExcess(pod: Pod, quota: ResourceQuota, exceeded: readonly Excess[]): QuotaRefusal {
  const print = (amountOf: (excess: Excess) => Quantity) => {
    return exceeded.map((excess) => `${excess.resource}=${formatQuantity(amountOf(excess))}`).join(',');
  };
  const requested = print(({ asked }) => asked);
  const used = print((excess) => excess.used);
  const limited = print(({ hard }) => hard);
  const text = `exceeded quota: ${quota.name}, requested: ${requested}, used: ${used}, limited: ${limited}`;
  return { ...forbid(pod, 'QuotaExceeded', text, { quota: quota.name, requested, used, limited }), exceeded };
}
