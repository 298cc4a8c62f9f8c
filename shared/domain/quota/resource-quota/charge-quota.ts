import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import {
  addAmounts,
  type Amounts,
  filterAmounts,
  addQuantities,
  compareQuantities,
  type Quantity,
  quantitySign,
  subtractQuantities,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type Excess, forbid, type QuotaRefusal } from '#shared/domain/quota/priority-quota.ts';
import { isTerminating, matchesQuota, type ResourceQuota } from './resource-quota.ts';

/** A request about a pod as the quota plugin sees it, last of all admission plugins. */
export interface QuotaRequest {
  readonly operation: string;
  /** Empty for the pod itself. */
  readonly subresource: string;
  /** The pod as it is to be stored. */
  readonly pod: Pod;
  readonly oldPod: Pod | undefined;
  /** A dry run is checked and never charged (oddity K13). */
  readonly isDryRun: boolean;
  readonly now: Instant;
}

/**
 * Whether a request can change what a quota counts: a new pod, a resize, or an update that moves the pod between
 * Terminating and NotTerminating. `pkg/quota/v1/evaluator/core/pods.go` Handles.
 */
export function isCountedRequest({ operation, subresource, pod, oldPod }: QuotaRequest): boolean {
  if (subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  if (operation !== 'UPDATE') return operation === 'CREATE';
  return oldPod !== undefined && isTerminating(oldPod) !== isTerminating(pod);
}

/** The amounts that a request adds; only amounts above zero. */
interface Additions {
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

/** The charge of a request to a quota. */
interface Charged {
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
