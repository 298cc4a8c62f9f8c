import type { ClusterState } from './cluster-state.ts';
import type { AdmissionDecision } from './decision.ts';
import { reasonOf } from './message.ts';
import { MESSAGES } from './messages.ts';
import { podWarnings } from './warnings/pod-warnings.ts';
import type { PodRequest } from './pod-request.ts';
import { policiesFor } from './rules/policies-for.ts';
import { POD_RULES, violationsOf } from './rules/policy-violations.ts';
import { breaksPriorityRule } from './rules/priority-rule.ts';
import { breaksQosRule } from './rules/qos-rule.ts';
import { breaksLabelRules } from './rules/quota-required-rule.ts';
import { breaksResourceQuotaRule } from './rules/resource-quota-rule.ts';
import { decideByViolations, type Violation } from './violation.ts';

/**
 * Decides whether a new pod, as it is about to be stored, may exist: its priority matches its class, its policies allow
 * it, and the quotas for its class have room. Changes by other webhooks are visible here.
 */
export function decideValidation(request: PodRequest, cluster: ClusterState): AdmissionDecision {
  const { priorityClassName = '', priority = 0 } = request.pod.spec;
  const accepted = reasonOf(MESSAGES.classMayBeUsed, { priorityClassName }, { priorityClassName, priority });
  return decideByViolations(accepted, violationsOfPod(request, cluster), () => podWarnings(request, cluster));
}

/** All violations of a new pod, as it is about to be stored. */
export function violationsOfPod(request: PodRequest, cluster: ClusterState): readonly Violation[] {
  const rules = [breaksPriorityRule(request, cluster.classes), breaksQosRule(request)];
  const quota = breaksResourceQuotaRule(request, cluster);
  return [
    ...rules.flatMap(denying),
    ...violationsOf(request, policiesFor(request, cluster), cluster, POD_RULES),
    ...breaksLabelRules(request, cluster).flatMap(denying),
    ...denying(quota),
  ];
}

function denying(because: Violation['because'] | undefined): readonly Violation[] {
  return because === undefined ? [] : [{ because, response: 'Deny' }];
}
