import {
  isPersonal,
  policiesFor,
  type PriorityPolicy,
  PREEMPT_LOWER_PRIORITY,
  type PriorityClasses,
  resolvePriority,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { Pod, Instant } from '#shared/domain/pod/pod.ts';
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
import type { Judged } from './policy-rule.ts';
import { RULES_FOR } from './policy-rules.ts';
import { breaksSpareRule } from './rules/spare-rules.ts';
import { breaksLabelRules, classQuotasOf } from './rules/room-rules.ts';
import { chooseClass, chooseRoom, fieldsOf, priorityRefusal } from './decide-mutation.ts';
import { PHRASES } from './messages/priority-messages.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { qosClass, withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { QuotaRequest } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { describePodHolders, quotaExceeded } from './quota-refusals.ts';

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
  const policies = policiesFor(request, cluster);
  const rules = [
    breaksPriorityRule(request, cluster.classes),
    breaksQosRule(request),
    breaksSpareRule(request.pod, policies),
  ];
  const quota = breaksResourceQuotaRule(request, cluster);
  return [
    ...rules.flatMap(denying),
    ...violationsOf('pod', request, policies, cluster),
    ...breaksLabelRules(request, cluster).flatMap(denying),
    ...denying(quota),
  ];
}

/** A violation and the policy that it breaks. */
interface PolicyViolation extends Violation {
  readonly policy: PriorityPolicy;
}

/** Every rule of a policy that is broken: all policies that apply must be satisfied, so the most restrictive wins. */
function violationsOf(
  judged: Judged,
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  cluster: ClusterState,
): readonly PolicyViolation[] {
  return policies.flatMap((policy) =>
    RULES_FOR[judged].flatMap(({ breaks }) => {
      const because = breaks(request, policy, cluster);
      return because === undefined ? [] : [{ because, response: policy.onViolation, policy }];
    }),
  );
}

/** What the policies for users and groups say of a template whose class does not exist. */
function unknownToPersons(
  judged: Judged,
  request: PodRequest,
  policies: readonly PriorityPolicy[],
): readonly Violation[] {
  return policies.filter(isPersonal).flatMap((policy) => {
    const [because] = RULES_FOR[judged].flatMap(({ breaksUnknown }) => breaksUnknown?.(request, policy) ?? []);
    return because === undefined ? [] : [{ because, response: policy.onViolation }];
  });
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
  if (unknown !== undefined)
    return decideByViolations(accepted, [unknown, ...unknownToPersons('template', template, policies)]);
  const lasting = policies.filter((policy) => !isPersonal(policy));
  const pod = asCreated(template, lasting, cluster);
  const violations = violationsOf('template', { ...template, pod }, policies, cluster).map((violation) =>
    isPersonal(violation.policy) ? violation : asWarning(violation),
  );
  return decideByViolations(accepted, violations, () => [
    ...roomOfPods({ ...template, pod }, lasting),
    ...podWarnings({ ...template, pod }, { ...cluster, policies: lasting }),
  ]);
}

/** Says where the pods of a template will run, if not in the room that it requests. */
function roomOfPods(template: PodRequest, policies: readonly PriorityPolicy[]): readonly string[] {
  const { priorityClassName = '' } = template.pod.spec;
  const move = chooseRoom({ ...template, pod: withDefaultRequests(template.pod) }, priorityClassName, policies);
  return move === undefined ? [] : [PHRASES.podsWouldMove(move.requested)];
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
function asCreated(template: PodRequest, lasting: readonly PriorityPolicy[], cluster: ClusterState): PodRequest['pod'] {
  return withPriority(template.pod, chooseClass(template, lasting, cluster.classes).fields);
}

/**
 * Decides whether the requester may create a group of pods (`PodGroup`) with the class that the request names. A class
 * that does not exist is refused by the API server itself.
 */
export function decidePodGroup(group: PodRequest, cluster: ClusterState): AdmissionDecision {
  const policies = policiesFor(group, cluster);
  const named = asNamed(group, cluster);
  const violations = named === undefined ? [] : violationsOf('group', named, policies, cluster);
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
    named === undefined ? unknownToPersons('group', group, policies) : violationsOf('group', named, policies, cluster);
  return decideByViolations(reasonOf(MESSAGES.templateAccepted, {}), violations);
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

/**
 * Refuses a pod whose priority or preemption policy differs from its class. The API server does not check again after
 * reinvoking mutating webhooks, so one of them could store class `low` with priority 4242.
 */
function breaksPriorityRule({ pod }: PodRequest, classes: PriorityClasses): Because | undefined {
  if (pod.spec.priorityClassName === undefined) return breaksClasslessRule(pod.spec);
  const resolved = resolvePriority(pod, classes);
  if (resolved.kind === 'resolved') return undefined;
  const refusal = priorityRefusal(pod, resolved, classes);
  return { ...refusal, text: PHRASES.classJustChanged(refusal.text) };
}

/** A pod without a class keeps priority 0, even if a default class has appeared since. */
function breaksClasslessRule(spec: PodRequest['pod']['spec']): Because | undefined {
  const { priority = 0, preemptionPolicy = PREEMPT_LOWER_PRIORITY } = spec;
  if (priority === 0 && preemptionPolicy === PREEMPT_LOWER_PRIORITY) return undefined;
  const facts = { priority, preemptionPolicy };
  return reasonOf(MESSAGES.classlessWithPriority, facts, facts);
}

/**
 * Refuses a QoS class that does not follow from the spec. Quota scopes trust `status.qosClass`, so a forged value would
 * take a pod out of a BestEffort quota (oddity S3). From 1.37 on the API server computes it, whatever a request says.
 */
function breaksQosRule({ pod }: PodRequest): Because | undefined {
  const { qosClass: given } = pod.status;
  const computed = qosClass(pod);
  if (given === undefined || given === computed || pod.arithmetic === '1.37') return undefined;
  const shown = given.length > MAX_SHOWN_LENGTH ? 'a longer text' : `\`${given}\``;
  return reasonOf(MESSAGES.forgedQosClass, { computed, shown }, { given: given.slice(0, MAX_SHOWN_LENGTH), computed });
}

/** No QoS class is longer, and a client's value need not be repeated in full. */
const MAX_SHOWN_LENGTH = 40;

/**
 * Refuses a pod for which a quota of its class has no room: the verdict of the ResourceQuota plugin, which runs after
 * us, with a more helpful message. Quotas without a PriorityClass scope are left to the plugin.
 */
function breaksResourceQuotaRule({ pod }: PodRequest, cluster: ClusterState): Because | undefined {
  const ofClass = cluster.resourceQuotas(pod.namespace).filter(limitsClasses);
  return breaksQuotas(requestFor(pod, undefined, cluster.now), ofClass, cluster);
}

/** Why the plugin will refuse a new pod, or a resize of `before`, because of any quota of the namespace. */
function breaksAnyResourceQuota(pod: Pod, before: Pod | undefined, cluster: ClusterState): Because | undefined {
  return breaksQuotas(requestFor(pod, before, cluster.now), cluster.resourceQuotas(pod.namespace), cluster);
}

function requestFor(pod: Pod, oldPod: Pod | undefined, now: Instant): QuotaRequest {
  const [operation, subresource] = oldPod === undefined ? ['CREATE', ''] : ['UPDATE', 'resize'];
  return { operation, subresource, pod, oldPod, isDryRun: true, now };
}

function breaksQuotas(
  request: QuotaRequest,
  quotas: readonly ResourceQuota[],
  cluster: ClusterState,
): Because | undefined {
  if (quotas.length === 0) return undefined;
  const { pod } = request;
  const { namespace } = pod;
  const verdict = checkQuotas(request, quotas, []);
  if (verdict.kind !== 'refused') return undefined;
  const { exceeded, because: reason, message } = verdict;
  const [first, ...more] = exceeded;
  if (first === undefined) return reasonOf(MESSAGES.quotaUnusable, { apiServer: message }, reason.facts);
  const name = String(reason.facts['quota']);
  const full = quotas.filter((quota) => quota.name === name);
  const holdersOf = (resource: string) => describeHolders(full, namespace, resource, cluster);
  const where = `in namespace \`${namespace}\``;
  return quotaExceeded({ kind: 'ResourceQuota', name, where, holdersOf }, pod, [first, ...more]);
}

function limitsClasses({ scopes }: ResourceQuota): boolean {
  return scopes.some(({ scopeName }) => scopeName === 'PriorityClass');
}

function describeHolders(
  full: readonly ResourceQuota[],
  namespace: string,
  resource: string,
  { knownPods, now }: ClusterState,
): readonly string[] {
  const isCounted = (pod: Pod) => pod.namespace === namespace && classQuotasOf(pod, full).length > 0;
  const holders = describePodHolders(knownPods, isCounted, resource, now);
  return holders === '' ? [] : [PHRASES.largestPods(holders)];
}
