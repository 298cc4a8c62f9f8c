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
 * plugin does with an API server flag. The namespace needs the label by which the quota entry is asked, because that
 * entry fails closed; there, a ResourceQuota with a PriorityClass scope covers the pods it counts, like a PriorityQuota.
 */
export function breaksQuotaRequiredRule(
  { pod }: PodRequest,
  policy: PriorityPolicy,
  cluster: ClusterState,
): Because | undefined {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || !policy.requireQuotaFor.includes(priorityClassName)) return undefined;
  const facts = { policy: policy.name, namespace: pod.namespace, priorityClassName };
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  const { quotaLabel: label } = cluster;
  if (!cluster.quotaNamespaces.matches(labels))
    return reasonOf(MESSAGES.quotaLabelRequired, { ...facts, label }, facts);
  const isCovered =
    classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).length > 0 ||
    cluster.priorityQuotas.some((quota) => limitsPod(quota, pod, labels));
  return isCovered ? undefined : reasonOf(MESSAGES.quotaRequired, facts, facts);
}

function limitsPod({ namespaces, scope, hard }: PriorityQuota, pod: Pod, labels: ReadonlyMap<string, string>): boolean {
  return namespaces.matches(labels) && countsPod(scope, pod) && [...hard.keys()].some(countsPods);
}

/** The quotas with `requireLabel` that would count the pod if its namespace had the label. */
export function breaksLabelRules({ pod }: PodRequest, cluster: ClusterState): readonly Because[] {
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  if (cluster.quotaNamespaces.matches(labels)) return [];
  const { priorityClassName = '' } = pod.spec;
  return cluster.priorityQuotas
    .filter(
      ({ requireLabel, namespaces, scope }) => requireLabel && namespaces.matches(labels) && countsPod(scope, pod),
    )
    .map(({ name: quota }) => {
      const facts = { quota, namespace: pod.namespace, priorityClassName };
      return reasonOf(MESSAGES.countedWithoutLabel, { ...facts, label: cluster.quotaLabel }, facts);
    });
}
