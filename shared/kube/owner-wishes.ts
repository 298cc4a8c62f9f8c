import type { OwnerWishes } from '#shared/domain/admission/decide-disruption.ts';
import { ANNOTATION_ALLOW_PREEMPTION, ANNOTATION_EVICT, FOREIGN_ALLOW_PREEMPTION } from './wire-names.ts';

type Annotations = ReadonlyMap<string, string>;

const NONE: Annotations = new Map();

/**
 * What a pod's owner asks for by annotations of the pod, and of its class where the pod says nothing; also in other
 * projects' words. A class that says outright that it allows preemption is not contradicted by its pods (D-22).
 */
export function ownerWishes(pod: Annotations, priorityClass: Annotations = NONE): OwnerWishes {
  const ofClass = preemptionWish(priorityClass);
  return {
    mayBeEvicted: pod.get(ANNOTATION_EVICT) !== 'never',
    mayBePreempted: ofClass === 'true' || (preemptionWish(pod) ?? ofClass) !== 'false',
  };
}

function preemptionWish(annotations: Annotations): string | undefined {
  return annotations.get(ANNOTATION_ALLOW_PREEMPTION) ?? annotations.get(FOREIGN_ALLOW_PREEMPTION);
}
