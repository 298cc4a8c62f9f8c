import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import { isPersonal, type PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from './cluster-state.ts';
import { chooseClass } from './choose-class.ts';
import type { AdmissionDecision } from './decision.ts';
import { reasonOf } from './message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { podWarnings } from './warnings/pod-warnings.ts';
import type { PodRequest } from './pod-request.ts';
import { policiesFor } from './rules/policies-for.ts';
import { violationsOf } from './rules/policy-violations.ts';
import { unknownToPersons } from './rules/unknown-class-rule.ts';
import { decideByViolations, type Violation } from './violation.ts';
import { withPriority } from './with-priority.ts';

/**
 * Decides whether the requester may write a workload with this pod template. Policies for users and groups are enforced
 * here, because a controller creates the pods; everything else is enforced on each pod, and only causes warnings here,
 * since users do not see warnings about a controller's pods.
 */
export function decideTemplate(template: PodRequest, cluster: ClusterState): AdmissionDecision {
  const accepted = reasonOf(MESSAGES.templateAccepted, {});
  const policies = policiesFor(template, cluster);
  const unknown = unknownClass(template, cluster);
  if (unknown !== undefined) return decideByViolations(accepted, [unknown, ...unknownToPersons(template, policies)]);
  const pod = asCreated(template, policies, cluster);
  const violations = violationsOf({ ...template, pod }, policies, cluster).map((violation) =>
    isPersonal(violation.policy) ? violation : asWarning(violation),
  );
  return decideByViolations(accepted, violations, () => podWarnings({ ...template, pod }, cluster));
}

function asWarning(violation: Violation): Violation {
  const { text, ...reason } = violation.because;
  return { because: { ...reason, text: PHRASES.podsWouldBeRefused(text) }, response: 'Warn' };
}

function unknownClass({ pod }: PodRequest, { classes }: ClusterState): Violation | undefined {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || classes.has(priorityClassName)) return undefined;
  const facts = { priorityClassName };
  return { because: reasonOf(MESSAGES.templateClassUnknown, facts, facts), response: 'Warn' };
}

/** The pod with the priority it will get when a controller creates it and policies for users no longer apply. */
function asCreated(
  template: PodRequest,
  policies: readonly PriorityPolicy[],
  cluster: ClusterState,
): PodRequest['pod'] {
  const lasting = policies.filter((policy) => !isPersonal(policy));
  return withPriority(template.pod, chooseClass(template, lasting, cluster.classes).fields);
}
