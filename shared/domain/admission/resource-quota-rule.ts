import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { checkQuotas } from '#shared/domain/quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota.ts';
import { because } from './admission-code.ts';
import type { PodRequest } from './pod-request.ts';
import { quotaExceeded } from './quota-exceeded.ts';

/**
 * A pod for which a quota of its class has no room: the ResourceQuota plugin's verdict, which comes after us, told in
 * a way that helps. Quotas without a PriorityClass scope are left to the plugin.
 */
export function breaksResourceQuotaRule(
  { pod }: PodRequest,
  quotas: readonly ResourceQuota[],
  now: Instant,
): Because | undefined {
  const ofClass = quotas.filter(({ scopes }) => scopes.some(({ scopeName }) => scopeName === 'PriorityClass'));
  if (ofClass.length === 0) return undefined;
  const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: true, now };
  const verdict = checkQuotas(request, ofClass, []);
  if (verdict.kind !== 'refused') return undefined;
  const { exceeded, because: reason, message } = verdict;
  const [first, ...more] = exceeded;
  if (first === undefined) return because('QuotaUnusable', message, reason.facts);
  const quota = { name: String(reason.facts['quota']), where: `in namespace \`${pod.namespace}\`` };
  return quotaExceeded(quota, pod, [first, ...more]);
}
