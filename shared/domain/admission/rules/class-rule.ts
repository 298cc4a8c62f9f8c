import type { Because } from '#shared/domain/model/because.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a class outside the policy's list, or a priority above its ceiling. A pod without a class has priority 0 and
 * no class name.
 */
export function breaksClassRule({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { priorityClassName = '', priority = 0 } = pod.spec;
  const { name, allowedClassNames, maxPriority } = policy;
  const facts = { policy: name, namespace: pod.namespace, priorityClassName, priority };
  if (allowedClassNames !== undefined && !allowedClassNames.includes(priorityClassName)) {
    return reasonOf(MESSAGES.classNotAllowed, { ...facts, allowed: allowedClassNames }, facts);
  }
  if (maxPriority !== undefined && priority > maxPriority) {
    return reasonOf(MESSAGES.priorityAboveCeiling, { ...facts, maxPriority }, { ...facts, maxPriority });
  }
  return undefined;
}
