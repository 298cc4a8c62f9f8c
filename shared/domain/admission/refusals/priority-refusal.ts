import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

/**
 * Why a pod with an unknown class, or with a priority or preemption policy that differs from its class, is refused: the
 * API server's own message.
 */
export function priorityRefusal(pod: Pod, refusal: ApiRefusal, classes: PriorityClasses): Because {
  const { priorityClassName: name = '', priority, preemptionPolicy } = pod.spec;
  if (name !== '' && !classes.has(name)) {
    return reasonOf(MESSAGES.unknownClass, { apiServer: refusal.message }, { priorityClassName: name });
  }
  const facts = {
    priorityClassName: name,
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  };
  return reasonOf(MESSAGES.fieldsDifferFromClass, { apiServer: refusal.message }, facts);
}
