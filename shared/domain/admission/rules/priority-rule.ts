import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import { PREEMPT_LOWER_PRIORITY, type PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { resolvePriority } from '#shared/domain/priority/resolve-priority.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { priorityRefusal } from '#shared/domain/admission/refusals/priority-refusal.ts';

/**
 * Refuses a pod whose priority or preemption policy differs from its class. The API server does not check again after
 * reinvoking mutating webhooks, so one of them could store class `low` with priority 4242.
 */
export function breaksPriorityRule({ pod }: PodRequest, classes: PriorityClasses): Because | undefined {
  if (pod.spec.priorityClassName === undefined) return breaksClasslessRule(pod.spec);
  const resolved = resolvePriority(pod, classes);
  if (resolved.kind === 'resolved') return undefined;
  const refusal = priorityRefusal(pod, resolved, classes);
  return { ...refusal, text: PHRASES.classJustChanged(refusal.text) };
}

/** A pod without a class keeps priority 0, even if a default class has appeared since. */
function breaksClasslessRule(spec: PodRequest['pod']['spec']): Because | undefined {
  const { priority = 0, preemptionPolicy = PREEMPT_LOWER_PRIORITY } = spec;
  if (priority === 0 && preemptionPolicy === PREEMPT_LOWER_PRIORITY) return undefined;
  const facts = { priority, preemptionPolicy };
  return reasonOf(MESSAGES.classlessWithPriority, facts, facts);
}
