import { isPersonal, type PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterState } from './cluster-state.ts';
import {
  type AdmissionDecision,
  decideByViolations,
  type Violation,
  refuse,
  type Refused,
  reasonOf,
} from './decision.ts';
import { MESSAGES } from './messages.ts';
import { podWarnings } from './warnings.ts';
import { type PodRequest, withPriority } from './request.ts';
import {
  POD_RULES,
  violationsOf,
  breaksLabelRules,
  unknownToPersons,
  breaksClassRule,
  breaksQuotaRequiredRule,
} from './policy-rules.ts';
import { policiesFor, chooseClass, fieldsOf } from './choose-fields.ts';
import { breaksPriorityRule, breaksQosRule, breaksResourceQuotaRule, breaksAnyResourceQuota } from './pod-rules.ts';
import { PHRASES } from './messages/wording.ts';

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
function violationsOfPod(request: PodRequest, cluster: ClusterState): readonly Violation[] {
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
 * Decides whether the requester may write a template of such a group (`Workload`). A controller creates the group, so
 * policies for users no longer apply to it; all others are enforced on the group.
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

/** With the value of its class; `undefined` if the class does not exist. */
function asNamed(group: PodRequest, { classes }: ClusterState): PodRequest | undefined {
  const found = classes.get(group.pod.spec.priorityClassName ?? '');
  return found && { ...group, pod: withPriority(group.pod, fieldsOf(found)) };
}

/** A new pod or a resized pod. */
export interface ChargeRequest {
  readonly request: PodRequest;
  /** The stored pod, for a resize only. */
  readonly before: Pod | undefined;
}

/**
 * Why something else will refuse a pod, so that a PriorityQuota need not be charged for it: the validating entry, which
 * runs at the same time, or the ResourceQuota plugin, which runs later. A pod that is charged and then refused holds
 * room for minutes, and a tenant that may not use a class must not be able to fill its quota. Refusals by other
 * webhooks or because of a name conflict cannot be predicted.
 */
export function refusalBeforeCharge({ request, before }: ChargeRequest, cluster: ClusterState): Refused | undefined {
  const rules = before === undefined ? violationsOfPod(request, cluster) : [];
  const denied = rules.find(({ response }) => response === 'Deny')?.because;
  const because = denied ?? breaksAnyResourceQuota(request.pod, before, cluster);
  return because === undefined ? undefined : refuse(403, because);
}
