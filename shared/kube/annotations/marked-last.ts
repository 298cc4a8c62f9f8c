import type { Pod } from '#shared/domain/pod/pod.ts';
import { ANNOTATION_EVICT, FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/api-names.ts';

/** Whether a pod asks to be evicted last; its annotation counts up to the priority ceiling for opting out. */
export function isMarkedLast({ annotations, spec }: Pod, optOutCeiling: number): boolean {
  const isMarked = annotations.get(ANNOTATION_EVICT) === 'last' || annotations.has(FOREIGN_PREFER_NO_EVICTION);
  return isMarked && (spec.priority ?? 0) <= optOutCeiling;
}
