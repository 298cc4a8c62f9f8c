import type { Because } from '#shared/domain/model/because.ts';
import { PREEMPT_NEVER } from '#shared/domain/priority/priority-class.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a pod that preempts where the policy forbids it. Its preemptionPolicy cannot be changed alone, because the
 * API server requires the value of its class, so the remedy is another class.
 */
export function breaksPreemptionRule({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  if (policy.preemption === 'Allow' || pod.spec.preemptionPolicy === PREEMPT_NEVER) return undefined;
  const { priorityClassName = '' } = pod.spec;
  const substitute = policy.substitutes.get(priorityClassName);
  const facts = { policy: policy.name, namespace: pod.namespace, priorityClassName };
  return reasonOf(MESSAGES.preemptionNotAllowed, { ...facts, substitute }, facts);
}
