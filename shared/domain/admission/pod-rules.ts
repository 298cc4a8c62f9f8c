import {
  PREEMPT_LOWER_PRIORITY,
  type PriorityClasses,
  resolvePriority,
} from '#shared/domain/priority/priority-class.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { qosClass } from '#shared/domain/pod/pod-requests.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { QuotaRequest } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { ApiRefusal } from '#shared/domain/base/api-refusal.ts';
import { PHRASES } from './messages/wording.ts';
import { reasonOf } from './decision.ts';
import { MESSAGES } from './messages.ts';
import type { PodRequest } from './request.ts';
import type { ClusterState } from './cluster-state.ts';
import { classQuotasOf } from './policy-rules.ts';
import { describePodHolders, quotaExceeded } from './quota-refusals.ts';

/**
 * Refuses a pod whose priority or preemption policy differs from its class. The API server does not check again after
 * reinvoking mutating webhooks, so one of them could store class `low` with priority 4242.
 */
export function breaksPriorityRule({ pod }: PodRequest, classes: PriorityClasses): Because | undefined {
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
 * take a pod out of a BestEffort quota (oddity S3).
 */
export function breaksQosRule({ pod }: PodRequest): Because | undefined {
  const { qosClass: given } = pod.status;
  const computed = qosClass(pod);
  if (given === undefined || given === computed) return undefined;
  const shown = given.length > MAX_SHOWN_LENGTH ? 'a longer text' : `\`${given}\``;
  return reasonOf(MESSAGES.forgedQosClass, { computed, shown }, { given: given.slice(0, MAX_SHOWN_LENGTH), computed });
}

/** No QoS class is longer, and a client's value need not be repeated in full. */
const MAX_SHOWN_LENGTH = 40;

/**
 * Refuses a pod for which a quota of its class has no room: the verdict of the ResourceQuota plugin, which runs after
 * us, with a more helpful message. Quotas without a PriorityClass scope are left to the plugin.
 */
export function breaksResourceQuotaRule({ pod }: PodRequest, cluster: ClusterState): Because | undefined {
  const ofClass = cluster.resourceQuotas(pod.namespace).filter(limitsClasses);
  return breaksQuotas(requestFor(pod, undefined, cluster.now), ofClass, cluster);
}

/** Why the plugin will refuse a new pod, or a resize of `before`, because of any quota of the namespace. */
export function breaksAnyResourceQuota(pod: Pod, before: Pod | undefined, cluster: ClusterState): Because | undefined {
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

/**
 * Why a pod with an unknown class, or with a priority or preemption policy that differs from its class, is refused: the
 * API server's own message.
 */
export function priorityRefusal(pod: Pod, refusal: ApiRefusal, classes: PriorityClasses): Because {
  const { priorityClassName: name = '', priority, preemptionPolicy } = pod.spec;
  if (name !== '' && !classes.has(name)) {
    return reasonOf(MESSAGES.unknownClass, { apiServer: refusal.message }, { priorityClassName: name });
  }
  const facts = {
    priorityClassName: name,
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  };
  return reasonOf(MESSAGES.fieldsDifferFromClass, { apiServer: refusal.message }, facts);
}
