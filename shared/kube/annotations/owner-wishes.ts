import type { OwnerWishes } from '#shared/domain/admission/decide-disruption.ts';
import {
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_EVICT,
  FOREIGN_ALLOW_PREEMPTION,
  PREEMPTION_BY_POD,
} from '#shared/kube/api-names.ts';

type Annotations = ReadonlyMap<string, string>;

const NONE: Annotations = new Map();

/**
 * What a pod's owner asks for by annotations of the pod and of its class; also in other projects' words. A class is an
 * administrator's, a pod any tenant's: a pod is spared from preemption by its class, or by its own word where the class
 * leaves that to its pods (D-22).
 */
export function ownerWishes(pod: Annotations, priorityClass: Annotations = NONE): OwnerWishes {
  return {
    mayBeEvicted: pod.get(ANNOTATION_EVICT) !== 'never',
    mayBePreempted: mayBePreempted(preemptionWish(pod), preemptionWish(priorityClass)),
  };
}

function mayBePreempted(ofPod: string | undefined, ofClass: string | undefined): boolean {
  if (ofClass === 'false') return ofPod === 'true';
  return ofClass !== PREEMPTION_BY_POD || ofPod !== 'false';
}

function preemptionWish(annotations: Annotations): string | undefined {
  return annotations.get(ANNOTATION_ALLOW_PREEMPTION) ?? annotations.get(FOREIGN_ALLOW_PREEMPTION);
}
