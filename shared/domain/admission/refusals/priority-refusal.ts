import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { because } from '#shared/domain/admission/admission-code.ts';

/** Why a pod whose class is unknown, or whose number or policy is not its class's, is refused: in the API server's own words. */
export function priorityRefusal(pod: Pod, refusal: ApiRefusal, classes: PriorityClasses): Because {
  const { priorityClassName: name = '', priority, preemptionPolicy } = pod.spec;
  if (name !== '' && !classes.has(name)) {
    return because('UnknownPriorityClass', refusal.message, { priorityClassName: name });
  }
  return because('PriorityMismatch', refusal.message, {
    priorityClassName: name,
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  });
}
