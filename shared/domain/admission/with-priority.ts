import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PriorityFields } from './decision.ts';

/** The pod with other priority fields; an empty class name means no class. */
export function withPriority(pod: Pod, { priorityClassName, priority, preemptionPolicy }: PriorityFields): Pod {
  const named = priorityClassName === '' ? undefined : priorityClassName;
  return { ...pod, spec: { ...pod.spec, priorityClassName: named, priority, preemptionPolicy } };
}
