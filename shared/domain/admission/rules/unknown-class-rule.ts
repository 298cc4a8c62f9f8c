import type { Because } from '#shared/domain/model/because.ts';
import { isPersonal, type PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { breaksClassRule } from './class-rule.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { Violation } from '#shared/domain/admission/violation.ts';

/**
 * Refuses a template whose class does not exist, under a policy for users or groups. Once the class exists, the pods
 * are checked without the user, so the class's priority must not be left open now.
 */
function breaksUnknownClassRule(request: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { namespace, spec } = request.pod;
  const { priorityClassName = '' } = spec;
  const { name, allowedClassNames, maxPriority, preemption } = policy;
  if (allowedClassNames?.includes(priorityClassName) === false) return breaksClassRule(request, policy);
  const facts = { policy: name, namespace, priorityClassName };
  if (maxPriority !== undefined) {
    const ceiling = { ...facts, maxPriority };
    return reasonOf(MESSAGES.missingClassUnderCeiling, ceiling, ceiling);
  }
  return preemption === 'Allow' ? undefined : reasonOf(MESSAGES.missingClassMayPreempt, facts, facts);
}

/** What the policies for users and groups say of a template whose class does not exist. */
export function unknownToPersons(request: PodRequest, policies: readonly PriorityPolicy[]): readonly Violation[] {
  return policies.filter(isPersonal).flatMap((policy) => {
    const because = breaksUnknownClassRule(request, policy);
    return because === undefined ? [] : [{ because, response: policy.onViolation }];
  });
}
