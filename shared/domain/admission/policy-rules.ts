import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import {
  type PriorityPolicy,
  isPersonal,
  classByRule,
  defaultClass,
  PREEMPT_NEVER,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { countsPods, countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { matchesQuota, type ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { ClusterState } from './cluster-state.ts';
import type { PodRequest } from './request.ts';
import { type Violation, reasonOf } from './decision.ts';
import { MESSAGES } from './messages.ts';
import { chooseClass, namedClass, policiesFor } from './decide-mutation.ts';

/**
 * Refuses a class outside the policy's list, or a priority above its ceiling. A pod without a class has priority 0 and
 * no class name.
 */
export function breaksClassRule({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { priorityClassName = '', priority = 0 } = pod.spec;
  const { name, allowedClassNames, maxPriority } = policy;
  const facts = { policy: name, namespace: pod.namespace, priorityClassName, priority };
  if (allowedClassNames !== undefined && !allowedClassNames.includes(priorityClassName)) {
    return reasonOf(MESSAGES.classNotAllowed, { ...facts, allowed: allowedClassNames }, facts);
  }
  if (maxPriority !== undefined && priority > maxPriority) {
    return reasonOf(MESSAGES.priorityAboveCeiling, { ...facts, maxPriority }, { ...facts, maxPriority });
  }
  return undefined;
}

/**
 * Refuses a pod that was created without a class and did not get the one that a policy gives: the mutating entry
 * ignores failures, so a caller who can delay its answer could choose priority 0, or the global default. A rule whose
 * class does not exist gives none.
 */
function breaksDefaultRule(request: PodRequest, policy: PriorityPolicy, cluster: ClusterState): Because | undefined {
  const { classes } = cluster;
  const { labels } = request.pod;
  const given = classByRule(policy, { labels, ownerKind: request.ownerKind }, classes)?.given;
  if (given === undefined || namedClass(request, defaultClass(classes)) !== undefined) return undefined;
  const { fields } = chooseClass(request, policiesFor(request, cluster), classes);
  const { namespace, spec } = request.pod;
  if ((spec.priorityClassName ?? '') === fields.priorityClassName) return undefined;
  const facts = { policy: policy.name, namespace, priorityClassName: given.name };
  return reasonOf(MESSAGES.defaultNotGiven, facts, facts);
}

/**
 * Refuses a pod that preempts where the policy forbids it. Its preemptionPolicy cannot be changed alone, because the
 * API server requires the value of its class, so the remedy is another class.
 */
function breaksPreemptionRule({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  if (policy.preemption === 'Allow' || pod.spec.preemptionPolicy === PREEMPT_NEVER) return undefined;
  const { priorityClassName = '' } = pod.spec;
  const substitute = policy.substitutes.get(priorityClassName);
  const facts = { policy: policy.name, namespace: pod.namespace, priorityClassName };
  return reasonOf(MESSAGES.preemptionNotAllowed, { ...facts, substitute }, facts);
}

/**
 * Refuses a class that requires a quota for a pod that no quota limits: what `limitedResources` of the ResourceQuota
 * plugin does with an API server flag. The namespace needs the label by which the quota entry is asked, because that
 * entry fails closed; there, a ResourceQuota with a PriorityClass scope covers the pods it counts, like a PriorityQuota.
 */
export function breaksQuotaRequiredRule(
  { pod }: PodRequest,
  policy: PriorityPolicy,
  cluster: ClusterState,
): Because | undefined {
  const { priorityClassName } = pod.spec;
  if (priorityClassName === undefined || !policy.requireQuotaFor.includes(priorityClassName)) return undefined;
  const facts = { policy: policy.name, namespace: pod.namespace, priorityClassName };
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  const { quotaLabel: label } = cluster;
  if (!cluster.quotaNamespaces.matches(labels))
    return reasonOf(MESSAGES.quotaLabelRequired, { ...facts, label }, facts);
  const isCovered =
    classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).length > 0 ||
    cluster.priorityQuotas.some((quota) => limitsPod(quota, pod, labels));
  return isCovered ? undefined : reasonOf(MESSAGES.quotaRequired, facts, facts);
}

function limitsPod({ namespaces, scope, hard }: PriorityQuota, pod: Pod, labels: ReadonlyMap<string, string>): boolean {
  return namespaces.matches(labels) && countsPod(scope, pod) && [...hard.keys()].some(countsPods);
}

/** The quotas with `requireLabel` that would count the pod if its namespace had the label. */
export function breaksLabelRules({ pod }: PodRequest, cluster: ClusterState): readonly Because[] {
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  if (cluster.quotaNamespaces.matches(labels)) return [];
  const { priorityClassName = '' } = pod.spec;
  return cluster.priorityQuotas
    .filter(
      ({ requireLabel, namespaces, scope }) => requireLabel && namespaces.matches(labels) && countsPod(scope, pod),
    )
    .map(({ name: quota }) => {
      const facts = { quota, namespace: pod.namespace, priorityClassName };
      return reasonOf(MESSAGES.countedWithoutLabel, { ...facts, label: cluster.quotaLabel }, facts);
    });
}

/** A violation and the policy that it breaks. */
export interface PolicyViolation extends Violation {
  readonly policy: PriorityPolicy;
}

type PolicyRule = (request: PodRequest, policy: PriorityPolicy, cluster: ClusterState) => Because | undefined;

/** What holds for pods and for templates, in the order of the API server's own rules (rule-expressions.ts). */
const RULES: readonly PolicyRule[] = [breaksClassRule, breaksPreemptionRule, breaksQuotaRequiredRule];
/** A template need not name a class: the policy gives one to its pods when they are created. */
export const POD_RULES: readonly PolicyRule[] = [breaksDefaultRule, ...RULES];

/** Every policy rule that the pod breaks: it must satisfy all policies that apply, so the most restrictive wins. */
export function violationsOf(
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  cluster: ClusterState,
  rules: readonly PolicyRule[] = RULES,
): readonly PolicyViolation[] {
  return policies.flatMap((policy) =>
    rules.flatMap((breaks) => {
      const because = breaks(request, policy, cluster);
      return because === undefined ? [] : [{ because, response: policy.onViolation, policy }];
    }),
  );
}

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

/** The quotas of a namespace that limit a pod because of its priority class. */
export function classQuotasOf(pod: Pod, quotas: readonly ResourceQuota[]): readonly ResourceQuota[] {
  return quotas.filter((quota) => {
    if (!quota.scopes.some(({ scopeName }) => scopeName === 'PriorityClass')) return false;
    const answer = matchesQuota(quota, pod);
    return answer.ok && answer.matches;
  });
}
