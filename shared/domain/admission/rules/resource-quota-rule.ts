import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { QuotaRequest } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { classQuotasOf } from './class-quotas.ts';
import { describePodHolders } from '#shared/domain/admission/refusals/pod-holders.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { quotaExceeded } from '#shared/domain/admission/refusals/quota-exceeded.ts';

/**
 * Refuses a pod for which a quota of its class has no room: the verdict of the ResourceQuota plugin, which runs after
 * us, with a more helpful message. Quotas without a PriorityClass scope are left to the plugin.
 */
export function breaksResourceQuotaRule({ pod }: PodRequest, cluster: ClusterState): Because | undefined {
  const ofClass = cluster.resourceQuotas(pod.namespace).filter(limitsClasses);
  return breaksQuotas(requestFor(pod, undefined, cluster.now), ofClass, cluster);
}

/** Why the plugin will refuse a new pod, or a resize of `before`, because of any quota of the namespace. */
export function breaksAnyResourceQuota(pod: Pod, before: Pod | undefined, cluster: ClusterState): Because | undefined {
  return breaksQuotas(requestFor(pod, before, cluster.now), cluster.resourceQuotas(pod.namespace), cluster);
}

function requestFor(pod: Pod, oldPod: Pod | undefined, now: Instant): QuotaRequest {
  const [operation, subresource] = oldPod === undefined ? ['CREATE', ''] : ['UPDATE', 'resize'];
  return { operation, subresource, pod, oldPod, isDryRun: true, now };
}

function breaksQuotas(
  request: QuotaRequest,
  quotas: readonly ResourceQuota[],
  cluster: ClusterState,
): Because | undefined {
  if (quotas.length === 0) return undefined;
  const { pod } = request;
  const { namespace } = pod;
  const verdict = checkQuotas(request, quotas, []);
  if (verdict.kind !== 'refused') return undefined;
  const { exceeded, because: reason, message } = verdict;
  const [first, ...more] = exceeded;
  if (first === undefined) return reasonOf(MESSAGES.quotaUnusable, { apiServer: message }, reason.facts);
  const name = String(reason.facts['quota']);
  const full = quotas.filter((quota) => quota.name === name);
  const holdersOf = (resource: string) => describeHolders(full, namespace, resource, cluster);
  const where = `in namespace \`${namespace}\``;
  return quotaExceeded({ kind: 'ResourceQuota', name, where, holdersOf }, pod, [first, ...more]);
}

function limitsClasses({ scopes }: ResourceQuota): boolean {
  return scopes.some(({ scopeName }) => scopeName === 'PriorityClass');
}

function describeHolders(
  full: readonly ResourceQuota[],
  namespace: string,
  resource: string,
  { knownPods, now }: ClusterState,
): readonly string[] {
  const isCounted = (pod: Pod) => pod.namespace === namespace && classQuotasOf(pod, full).length > 0;
  const holders = describePodHolders(knownPods, isCounted, resource, now);
  return holders === '' ? [] : [PHRASES.largestPods(holders)];
}
