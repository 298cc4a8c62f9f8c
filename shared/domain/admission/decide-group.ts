import { isPersonal, type PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { fieldsOf } from './choose-class.ts';
import type { ClusterState } from './cluster-state.ts';
import type { AdmissionDecision } from './decision.ts';
import { reasonOf } from './message.ts';
import { MESSAGES } from './messages.ts';
import type { PodRequest } from './pod-request.ts';
import { breaksClassRule } from './rules/class-rule.ts';
import { policiesFor } from './rules/policies-for.ts';
import { violationsOf } from './rules/policy-violations.ts';
import { breaksQuotaRequiredRule } from './rules/quota-required-rule.ts';
import { unknownToPersons } from './rules/unknown-class-rule.ts';
import { decideByViolations } from './violation.ts';
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
  const violations =
    named === undefined
      ? unknownToPersons(group, policies.map(allowingPreemption))
      : violationsOf(named, policies, cluster, GROUP_RULES);
  return decideByViolations(reasonOf(MESSAGES.templateAccepted, {}), violations);
}

function allowingPreemption(policy: PriorityPolicy): PriorityPolicy {
  return { ...policy, preemption: 'Allow' };
}

/** With the number of its class; `undefined` where the class does not exist. */
function asNamed(group: PodRequest, { classes }: ClusterState): PodRequest | undefined {
  const found = classes.get(group.pod.spec.priorityClassName ?? '');
  return found && { ...group, pod: withPriority(group.pod, fieldsOf(found)) };
}
