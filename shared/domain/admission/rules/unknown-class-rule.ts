import type { Because } from '#shared/domain/model/because.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { because } from '#shared/domain/admission/admission-code.ts';
import { breaksClassRule } from './class-rule.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a template whose class does not exist, under a policy for users or groups. Once the class exists, the pods
 * are checked without the user, so the class's priority must not be left open now.
 */
export function breaksUnknownClassRule(request: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { namespace, spec } = request.pod;
  const { priorityClassName = '' } = spec;
  const { name, allowedClassNames, maxPriority, preemption } = policy;
  if (allowedClassNames?.includes(priorityClassName) === false) return breaksClassRule(request, policy);
  const facts = { policy: name, namespace, priorityClassName };
  const missing = `priority class \`${priorityClassName}\` does not exist`;
  if (maxPriority !== undefined) {
    const text = `policy \`${name}\` allows a priority of at most ${maxPriority} here; ${missing}`;
    return because('PriorityAboveCeiling', text, { ...facts, maxPriority });
  }
  if (preemption === 'Allow') return undefined;
  return because('PreemptionNotAllowed', `policy \`${name}\` forbids preemption here; ${missing}`, facts);
}
