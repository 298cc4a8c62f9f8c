import {
  PREEMPT_LOWER_PRIORITY,
  PREEMPT_NEVER,
  type PodPriority,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/**
 * Whether the validation after admission accepts what `keepPriority` left: nothing may change, and the policy must be
 * a known one even if unchanged. `pkg/apis/core/validation/validation.go` ValidatePodUpdate.
 */
export function isPriorityKept(kept: PodPriority, oldPod: Pod): boolean {
  return (
    kept.priorityClassName === (oldPod.spec.priorityClassName ?? '') &&
    kept.priority === oldPod.spec.priority &&
    kept.preemptionPolicy === oldPod.spec.preemptionPolicy &&
    isKnownPolicy(kept.preemptionPolicy)
  );
}

function isKnownPolicy(policy: string | undefined): boolean {
  return policy === undefined || policy === PREEMPT_LOWER_PRIORITY || policy === PREEMPT_NEVER;
}
