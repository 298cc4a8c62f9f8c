import type { Because } from '#shared/domain/model/because.ts';
import { listClasses } from '#shared/domain/priority/list-classes.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { because } from '#shared/domain/admission/admission-code.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a class outside the policy's list, or a priority above its ceiling. A pod without a class has priority 0 and
 * no class name.
 */
export function breaksClassRule({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { priorityClassName = '', priority = 0 } = pod.spec;
  const { name, allowedClassNames, maxPriority } = policy;
  const facts = { policy: name, namespace: pod.namespace, priorityClassName, priority };
  if (allowedClassNames !== undefined && !allowedClassNames.includes(priorityClassName)) {
    const text = `policy \`${name}\` does not allow ${describeClass(priorityClassName)} here; allowed: ${listClasses(allowedClassNames)}`;
    return because('ClassNotAllowed', text, facts);
  }
  if (maxPriority !== undefined && priority > maxPriority) {
    const text = `policy \`${name}\` allows a priority of at most ${maxPriority} here; ${describePod(priorityClassName)} has ${priority}`;
    return because('PriorityAboveCeiling', text, { ...facts, maxPriority });
  }
  return undefined;
}

function describePod(name: string): string {
  return name === '' ? 'a pod without a priority class' : `priority class \`${name}\``;
}

function describeClass(name: string): string {
  return name === '' ? 'pods without a priority class' : `priority class \`${name}\``;
}
