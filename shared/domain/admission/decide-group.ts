import { isPersonal } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from './cluster-state.ts';
import type { AdmissionDecision } from './decision.ts';
import { reasonOf } from './message.ts';
import { MESSAGES } from './messages.ts';
import type { PodRequest } from './pod-request.ts';
import { breaksClassRule } from './rules/class-rule.ts';
import { policiesFor } from './rules/policies-for.ts';
import { violationsOf } from './rules/policy-violations.ts';
import { breaksQuotaRequiredRule } from './rules/quota-required-rule.ts';
import { breaksUnknownClassRule } from './rules/unknown-class-rule.ts';
import { decideByViolations, type Violation } from './violation.ts';
import { withPriority } from './with-priority.ts';

/** A group gets no default and no substitute; its pods say whether they preempt. */
const GROUP_RULES = [breaksClassRule, breaksQuotaRequiredRule];

/**
 * Decides whether the requester may create a group of pods (`PodGroup`) with the class that the request names. A class
 * that does not exist is refused by the API server itself.
 */
export function decidePodGroup(group: PodRequest, cluster: ClusterState): AdmissionDecision {
  const policies = policiesFor(group, cluster);
  const named = asNamed(group, cluster);
  const violations = named === undefined ? [] : violationsOf(named, policies, cluster, GROUP_RULES);
  return decideByViolations(reasonOf(MESSAGES.templateAccepted, {}), violations);
}

/**
 * Decides whether the requester may write a template of such a group (`Workload`). A controller creates the group, for
 * which policies for users do not apply any more; all others are enforced on the group.
 */
export function decideGroupTemplate(group: PodRequest, cluster: ClusterState): AdmissionDecision {
  const policies = policiesFor(group, cluster).filter(isPersonal);
  const named = asNamed(group, cluster);
  const violations: readonly Violation[] =
    named === undefined
      ? policies.flatMap((policy) => {
          const because = breaksUnknownClassRule(group, { ...policy, preemption: 'Allow' });
          return because === undefined ? [] : [{ because, response: policy.onViolation }];
        })
      : violationsOf(named, policies, cluster, GROUP_RULES);
  return decideByViolations(reasonOf(MESSAGES.templateAccepted, {}), violations);
}

/** With the number of its class; `undefined` where the class does not exist. */
function asNamed(group: PodRequest, { classes }: ClusterState): PodRequest | undefined {
  const { priorityClassName = '' } = group.pod.spec;
  const found = classes.get(priorityClassName);
  if (found === undefined) return undefined;
  const { value: priority, preemptionPolicy } = found;
  return { ...group, pod: withPriority(group.pod, { priorityClassName, priority, preemptionPolicy }) };
}
