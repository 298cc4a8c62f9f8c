import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { countsPods } from '#shared/domain/quota/charged-names.ts';
import { countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { classQuotasOf } from './class-quotas.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * Refuses a class that requires a quota for a pod that no quota limits: what `limitedResources` of the ResourceQuota
 * plugin does with an API server flag. A ResourceQuota with a PriorityClass scope covers the pods it counts, a
 * PriorityQuota those in namespaces where it is enforced.
 */
export function breaksQuotaRequiredRule(
  { pod }: PodRequest,
  policy: PriorityPolicy,
  cluster: ClusterState,
): Because | undefined {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || !policy.requireQuotaFor.includes(priorityClassName)) return undefined;
  if (classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).length > 0) return undefined;
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  const selecting = cluster.priorityQuotas.find((quota) => limitsPod(quota, pod, labels));
  if (selecting !== undefined && cluster.quotaNamespaces.matches(labels)) return undefined;
  const facts = { policy: policy.name, namespace: pod.namespace, priorityClassName };
  return reasonOf(MESSAGES.quotaRequired, { ...facts, selecting: selecting?.name }, facts);
}

function limitsPod({ namespaces, scope, hard }: PriorityQuota, pod: Pod, labels: ReadonlyMap<string, string>): boolean {
  return namespaces.matches(labels) && countsPod(scope, pod) && [...hard.keys()].some(countsPods);
}
