import type { Pod } from '#shared/domain/pod/pod.ts';
import { missingValues } from './missing-values.ts';
import type { QuotaRefusal } from '#shared/domain/quota/refusal.ts';
import { fail, forbid } from '#shared/domain/quota/refusal.ts';
import type { ResourceQuota, ScopeTerm } from './resource-quota.ts';
import { limitedEntries, matchingTerms, printTerm } from './scopes.ts';

/** The quotas of a namespace that match a pod. */
export interface Coverage {
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
export function examineQuotas(pod: Pod, quotas: readonly ResourceQuota[]): Coverage | QuotaRefusal {
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
