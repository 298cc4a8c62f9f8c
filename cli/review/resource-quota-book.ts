import { classQuotasOf } from '#shared/domain/admission/rules/class-quotas.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';

/** The ResourceQuotas and what the pods admitted so far cost them. */
export interface ResourceQuotaBook {
  /** Those of a namespace, in order of their names. */
  of(namespace: string): readonly ResourceQuota[];
  /** Charges a pod that was admitted to the quotas of its class. */
  charge(pod: Pod): void;
}

export function openResourceQuotas(all: Iterable<ResourceQuota>, now: Instant): ResourceQuotaBook {
  const byNamespace = Map.groupBy(all, ({ namespace }) => namespace);
  for (const quotas of byNamespace.values()) quotas.sort(byName);
  const of = (namespace: string): readonly ResourceQuota[] => byNamespace.get(namespace) ?? [];

  function charge(pod: Pod): void {
    const { namespace } = pod;
    const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: false, now };
    const verdict = checkQuotas(request, classQuotasOf(pod, of(namespace)), []);
    if (verdict.kind === 'refused' || verdict.newUsed.size === 0) return;
    const charged = of(namespace).map((quota) => ({ ...quota, used: verdict.newUsed.get(quota.name) ?? quota.used }));
    byNamespace.set(namespace, charged);
  }

  return { of, charge };
}
