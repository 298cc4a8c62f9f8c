import type { Because } from '#shared/domain/model/because.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { matchesClass } from '#shared/domain/quota/class-term.ts';
import { countsPod } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota.ts';
import { because } from './admission-code.ts';
import type { AdmissionWorld } from './admission-world.ts';
import type { PodRequest } from './pod-request.ts';

/**
 * A class that may be used only where a quota covers it, in a namespace without one: what `limitedResources` of the
 * API server's own plugin does by a flag. A ResourceQuota with a matching PriorityClass term or a PriorityQuota covers.
 */
export function breaksQuotaRequiredRule(
  { pod }: PodRequest,
  policy: PriorityPolicy,
  world: AdmissionWorld,
): Because | undefined {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || !policy.requireQuotaFor.includes(priorityClassName)) return undefined;
  const isCovered =
    world.resourceQuotas(pod.namespace).some((quota) => coversClass(quota, priorityClassName)) ||
    world.priorityQuotas.some(({ namespaces, scope }) => {
      const labels = world.namespaceLabels(pod.namespace);
      return labels !== undefined && namespaces.matches(labels) && countsPod(scope, pod);
    });
  if (isCovered) return undefined;
  const text = `policy \`${policy.name}\` allows priority class \`${priorityClassName}\` only where a quota covers it, and no quota in namespace \`${pod.namespace}\` does`;
  return because('QuotaRequired', text, { policy: policy.name, namespace: pod.namespace, priorityClassName });
}

function coversClass({ scopes }: ResourceQuota, className: string): boolean {
  return scopes.some((term) => {
    const answer = term.scopeName === 'PriorityClass' ? matchesClass(term, className) : undefined;
    return answer?.ok === true && answer.matches;
  });
}
