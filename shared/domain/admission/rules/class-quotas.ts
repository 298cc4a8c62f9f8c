import type { Pod } from '#shared/domain/pod/pod.ts';
import { matchesQuota, type ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';

/** The quotas of a namespace that limit a pod because of its priority class. */
export function classQuotasOf(pod: Pod, quotas: readonly ResourceQuota[]): readonly ResourceQuota[] {
  return quotas.filter((quota) => {
    if (!quota.scopes.some(({ scopeName }) => scopeName === 'PriorityClass')) return false;
    const answer = matchesQuota(quota, pod);
    return answer.ok && answer.matches;
  });
}
