import { type Amounts, filterAmounts, sortedNames, quantitySign, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { charge, missingValues } from '#shared/domain/quota/charge.ts';
import { fail, forbid, type QuotaRefusal } from '#shared/domain/quota/priority-quota.ts';
import { additions, chargeQuota, isCountedRequest, type QuotaRequest } from './charge-quota.ts';
import {
  limitedEntries,
  type LimitedResource,
  matchingTerms,
  printTerm,
  type ResourceQuota,
  type ScopeTerm,
} from './resource-quota.ts';

/** A request within all quotas. */
interface QuotaAllowance {
  readonly kind: 'allowed';
  /** The complete new `status.used` of each charged quota, by name. */
  readonly newUsed: ReadonlyMap<string, Amounts>;
  readonly because: Because & { readonly code: QuotaAllowanceCode };
}

type QuotaAllowanceCode = 'NotCounted' | 'NothingLimited' | 'LimitUnreadable' | 'NothingAdded' | 'WithinQuota';

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
  covered: CoveringQuotas,
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
  const negative = Array.from(cost.keys()).filter((name) => quantitySign(cost.get(name) ?? ZERO) < 0);
  if (negative.length > 0) return forbidNegative(pod, negative.sort().join(','));
  if (operation !== 'UPDATE' || oldPod !== undefined) return undefined;
  const text = 'unable to get previous usage since prior version of object was not found';
  return forbid(pod, 'OldPodMissing', text, {});
}

function forbidNegative(pod: Pod, resources: string): QuotaRefusal {
  return forbid(pod, 'UsageNegative', `quota usage is negative for resource(s): ${resources}`, { resources });
}

const NOTHING_USED: QuotaAllowance['newUsed'] = new Map();

function allow(
  code: QuotaAllowanceCode,
  text: string,
  newUsed: QuotaAllowance['newUsed'] = NOTHING_USED,
): QuotaAllowance {
  return { kind: 'allowed', newUsed, because: { code, text, facts: { charged: newUsed.size } } };
}

/** The quotas of a namespace that match a pod. */
interface CoveringQuotas {
  readonly kind: 'covered';
  /** The quotas that the pod is charged to. */
  readonly quotas: readonly ResourceQuota[];
  /** All pod resources that these limit. */
  readonly resources: ReadonlySet<string>;
  /** The scopes that the pod meets in any quota, also in one that does not match as a whole (oddity K3). */
  readonly scopes: ReadonlySet<string>;
}

/**
 * Finds the quotas that match a pod. The first quota that cannot be evaluated, requires a value that the pod does not
 * set, or has not been counted yet refuses it, before any limits are compared (oddity K5).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
function examineQuotas(pod: Pod, quotas: readonly ResourceQuota[]): CoveringQuotas | QuotaRefusal {
  const matching: ResourceQuota[] = [];
  const resources = new Set<string>();
  const scopes = new Set<string>();
  for (const quota of quotas) {
    const met = matchingTerms(pod, quota.scopes);
    if (!met.ok) return refuseUnreadable(quota, met);
    for (const { scopeName } of met.terms) scopes.add(scopeName);
    const limited = limitedEntries(quota, met.terms);
    if (limited.length === 0) continue;
    const refusal = refuseUnprepared(pod, quota, limited);
    if (refusal !== undefined) return refusal;
    matching.push(quota);
    for (const name of limited) resources.add(name);
  }
  return { kind: 'covered', quotas: matching, resources, scopes };
}

/** One scope that cannot be read blocks every pod of the namespace (oddity K2). */
function refuseUnreadable(
  { name }: ResourceQuota,
  { term, message }: { readonly term: ScopeTerm; readonly message: string },
): QuotaRefusal {
  const text = `error matching scopes of quota ${name}, err: error on matching scope ${printTerm(term)}: ${message}`;
  return fail('ScopeUnreadable', text, { quota: name, term: printTerm(term) });
}

function refuseUnprepared(pod: Pod, quota: ResourceQuota, limited: readonly string[]): QuotaRefusal | undefined {
  const missing = missingValues(pod, limited);
  if (missing !== undefined) {
    const text = `failed quota: ${quota.name}: must specify ${missing}`;
    return forbid(pod, 'ValuesMissing', text, { quota: quota.name, missing });
  }
  if (limited.every((name) => quota.used.has(name))) return undefined;
  const resources = limited.toSorted().join(',');
  const text = `status unknown for quota: ${quota.name}, resources: ${resources}`;
  return forbid(pod, 'UsageUnknown', text, { quota: quota.name, resources });
}

/** What a pod may use only if a quota covers it. */
interface ToCover {
  readonly resources: readonly string[];
  readonly scopes: readonly ScopeTerm[];
}

/**
 * Refuses what may be used only if a quota covers it: resources by every name that they are charged under (oddity K4),
 * then scopes, which any matching term of the same scope name covers (oddities K1, K3).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
function refuseUncovered(pod: Pod, toCover: ToCover, covered: CoveringQuotas): QuotaRefusal | undefined {
  const names = toCover.resources.filter((name) => !covered.resources.has(name));
  if (names.length > 0) {
    const resources = names.join(',');
    return forbid(pod, 'ResourcesNotCovered', `insufficient quota to consume: ${resources}`, { resources });
  }
  const terms = toCover.scopes.filter(({ scopeName }) => !covered.scopes.has(scopeName));
  if (terms.length === 0) return undefined;
  const scopes = `[${terms.map(printTerm).join(' ')}]`;
  return fail('ScopesNotCovered', `insufficient quota to match these scopes: ${scopes}`, { scopes });
}

/** What a pod costs, sorted, under names that contain a text of the entries for pods. limitedByDefault. */
function namesToCover(cost: Amounts, limited: readonly LimitedResource[]): readonly string[] {
  const parts = limited.filter(isForPods).flatMap(({ matchContains }) => matchContains);
  if (parts.length === 0) return [];
  return sortedNames(
    filterAmounts(cost, (name, amount) => quantitySign(amount) > 0 && parts.some((part) => name.includes(part))),
  );
}

function isForPods({ apiGroup, resource }: LimitedResource): boolean {
  return apiGroup === '' && resource === 'pods';
}
