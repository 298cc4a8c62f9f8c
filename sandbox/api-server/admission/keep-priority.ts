import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PodPriority } from '#shared/domain/priority/classes-and-policies.ts';

/** An update does not look up a class: number and policy are kept if the new pod lacks them (oddity P6). */
export function keepPriority(pod: Pod, oldPod: Pod): PodPriority {
  return {
    kind: 'resolved',
    priorityClassName: pod.spec.priorityClassName ?? '',
    priority: pod.spec.priority ?? oldPod.spec.priority,
    preemptionPolicy: pod.spec.preemptionPolicy ?? oldPod.spec.preemptionPolicy,
  };
}
