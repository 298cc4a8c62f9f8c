import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { addAmounts, filterAmounts } from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { addQuantities, compareQuantities, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { Excess, QuotaRefusal } from '#shared/domain/quota/refusal.ts';
import { forbid } from '#shared/domain/quota/refusal.ts';
import type { ResourceQuota } from './resource-quota.ts';

/** The charge of a request to a quota. */
export interface Charged {
  readonly kind: 'charged';
  /** The addition in the resources that the quota limits; may be empty. */
  readonly asked: Amounts;
  /** `used` including the addition; resources that the request does not touch stay unchanged (oddity K10). */
  readonly used: Amounts;
}

/**
 * Charges an addition to a quota, or refuses it. Only resources that the request adds are compared: a quota that is
 * over its limit in another resource does not block (oddity K7).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
export function chargeQuota(pod: Pod, quota: ResourceQuota, addition: Amounts): Charged | QuotaRefusal {
  const exceeded = findExcesses(quota, addition);
  if (exceeded.length > 0) return refuseExcesses(pod, quota.name, exceeded);
  const asked = filterAmounts(addition, (name) => quota.hard.has(name));
  return { kind: 'charged', asked, used: addAmounts(quota.used, asked) };
}

function findExcesses(quota: ResourceQuota, addition: Amounts): readonly Excess[] {
  const excesses: Excess[] = [];
  for (const [resource, hard] of quota.hard) {
    const asked = addition.get(resource);
    if (asked === undefined) continue;
    const used = quota.used.get(resource) ?? ZERO;
    if (compareQuantities(addQuantities(used, asked), hard) > 0) excesses.push({ resource, asked, used, hard });
  }
  return excesses.sort((a, b) => compareTexts(a.resource, b.resource));
}

/** Each amount in its own spelling and format (oddity K9). */
function refuseExcesses(pod: Pod, quota: string, exceeded: readonly Excess[]): QuotaRefusal {
  const print = (amount: 'asked' | 'used' | 'hard') => {
    return exceeded.map((excess) => `${excess.resource}=${formatQuantity(excess[amount])}`).join(',');
  };
  const facts = { quota, requested: print('asked'), used: print('used'), limited: print('hard') };
  const amounts = `requested: ${facts.requested}, used: ${facts.used}, limited: ${facts.limited}`;
  return { ...forbid(pod, 'QuotaExceeded', `exceeded quota: ${quota}, ${amounts}`, facts), exceeded };
}
