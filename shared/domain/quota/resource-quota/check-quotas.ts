import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { filterAmounts, sortedNames } from '#shared/domain/quantity/amounts.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import { additions } from './additions.ts';
import { chargeQuota } from './charge-quota.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import type { Coverage } from './examine-quotas.ts';
import { examineQuotas } from './examine-quotas.ts';
import type { QuotaRefusal } from '#shared/domain/quota/refusal.ts';
import { forbid } from '#shared/domain/quota/refusal.ts';
import type { ToCover } from './refuse-uncovered.ts';
import { namesToCover, refuseUncovered } from './refuse-uncovered.ts';
import type { QuotaRequest } from './request.ts';
import { isCountedRequest } from './request.ts';
import type { LimitedResource, ResourceQuota } from './resource-quota.ts';
import { matchingTerms } from './scopes.ts';

/** A request within all quotas. */
export interface QuotaAllowance {
  readonly kind: 'allowed';
  /** The complete new `status.used` of each charged quota, by name. */
  readonly newUsed: ReadonlyMap<string, Amounts>;
  readonly because: Because & { readonly code: QuotaAllowanceCode };
}

export type QuotaAllowanceCode = 'NotCounted' | 'NothingLimited' | 'LimitUnreadable' | 'NothingAdded' | 'WithinQuota';

/**
 * Whether a request about a pod fits the quotas of its namespace, and what they are charged. `quotas` are all quotas of
 * the namespace, in evaluation order; the first failure is the answer, and nothing is charged on a failure (oddity K5).
 * `limited` is the plugin's configuration, usually empty. `apiserver/pkg/admission/plugin/resourcequota/controller.go`
 * Evaluate, CheckRequest.
 */
export function checkQuotas(
  request: QuotaRequest,
  quotas: readonly ResourceQuota[],
  limited: readonly LimitedResource[],
): QuotaAllowance | QuotaRefusal {
  if (!isCountedRequest(request)) return allow('NotCounted', 'the request changes nothing that quotas count');
  if (quotas.length + limited.length === 0) return allow('NothingLimited', 'there is no quota');
  const scopes = limited.flatMap(({ matchScopes }) => matchScopes);
  const met = matchingTerms(request.pod, scopes);
  if (!met.ok) return allow('LimitUnreadable', `nothing is checked: ${met.message}`);
  const covered = examineQuotas(request.pod, quotas);
  if (covered.kind === 'refused') return covered;
  const cost = charge(request.pod, request.now);
  const refusal = refuseUncountable(request, cost);
  return refusal ?? chargeAll(request, cost, covered, { resources: namesToCover(cost, limited), scopes: met.terms });
}

/** Charges each quota, unless nothing is added. Coverage is checked before limits are compared. */
function chargeAll(
  request: QuotaRequest,
  cost: Amounts,
  covered: Coverage,
  toCover: ToCover,
): QuotaAllowance | QuotaRefusal {
  const { toQuota, plain } = additions(request, cost);
  const due = covered.quotas.map((quota) => ({ quota, addition: toQuota(quota) }));
  const added = due.length > 0 ? due.map(({ addition }) => addition) : [plain];
  if (added.every(({ size }) => size === 0)) return allow('NothingAdded', 'the request adds nothing to any quota');
  const uncovered = refuseUncovered(request.pod, toCover, covered);
  if (uncovered !== undefined) return uncovered;
  const newUsed = new Map<string, Amounts>();
  for (const { quota, addition } of due) {
    const charged = chargeQuota(request.pod, quota, addition);
    if (charged.kind === 'refused') return charged;
    if (charged.asked.size > 0) newUsed.set(quota.name, charged.used);
  }
  return allow('WithinQuota', 'there is room', request.isDryRun ? undefined : newUsed);
}

/** A request that makes a cost negative (oddity U8), or an update without what it updates. */
function refuseUncountable({ operation, pod, oldPod }: QuotaRequest, cost: Amounts): QuotaRefusal | undefined {
  const negative = sortedNames(filterAmounts(cost, (_name, amount) => quantitySign(amount) < 0)).join(',');
  if (negative !== '') return forbidNegative(pod, negative);
  if (operation !== 'UPDATE' || oldPod !== undefined) return undefined;
  const text = 'unable to get previous usage since prior version of object was not found';
  return forbid(pod, 'OldPodMissing', text, {});
}

function forbidNegative(pod: Pod, resources: string): QuotaRefusal {
  return forbid(pod, 'UsageNegative', `quota usage is negative for resource(s): ${resources}`, { resources });
}

function allow(
  code: QuotaAllowanceCode,
  text: string,
  newUsed: ReadonlyMap<string, Amounts> = new Map(),
): QuotaAllowance {
  return { kind: 'allowed', newUsed, because: { code, text, facts: { charged: newUsed.size } } };
}
