/*
 * How pods may get room: whether they may take it from others (preemption), and for which classes only within a quota
 * (requireQuotaFor). A PriorityQuota with requireLabel is judged like a policy where its label is missing.
 */
import type { Because } from '#shared/domain/base/because.ts';
import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { type Message, reasonOf } from '#shared/domain/admission/decision.ts';
import {
  classNamed,
  missing,
  type NamedClass,
  type OfPolicy,
  PHRASES,
  podOf,
  podsOf,
} from '#shared/domain/admission/messages/priority-messages.ts';
import {
  CEL_MISSING,
  CEL_POLICY,
  celOrUnknown,
  type CelRule,
  type CelScope,
  type PolicyRule,
} from '#shared/domain/admission/policy-rule.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { PREEMPT_NEVER, type PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { countsPods, countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { matchesQuota, type ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';

export const ROOM_RULE_MESSAGES = {
  preemptionNotAllowed: {
    code: 'PreemptionNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly substitute: string | undefined }) =>
      `policy \`${v.policy}\` forbids preemption here, but ${podOf(v)} preempts; use ${v.substitute === undefined ? 'a class with preemptionPolicy `Never`' : classNamed(v.substitute)}`,
  },
  missingClassMayPreempt: {
    code: 'PreemptionNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy) => `policy \`${v.policy}\` forbids preemption here; ${missing(v)}`,
  },
  quotaRequired: {
    code: 'QuotaRequired',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly namespace: string }) =>
      `policy \`${v.policy}\` allows ${classNamed(v.priorityClassName)} only where a quota covers it, and no quota in namespace \`${v.namespace}\` does`,
  },
  quotaLabelRequired: {
    code: 'QuotaRequired',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly label: string }) =>
      `policy \`${v.policy}\` allows ${classNamed(v.priorityClassName)} only where a quota covers it, ${PHRASES.withoutQuotaLabel(v.label)}`,
  },
  countedWithoutLabel: {
    code: 'QuotaLabelMissing',
    status: 403,
    text: (v: NamedClass & { readonly quota: string; readonly label: string }) =>
      `quota \`${v.quota}\` counts ${podsOf(v)} here, ${PHRASES.withoutQuotaLabel(v.label)}`,
  },
} as const satisfies Record<string, Message<never>>;

/**
 * No pod preempts. Its preemptionPolicy cannot be changed alone, because the API server requires the value of its
 * class, so the remedy is another class.
 */
export const PREEMPTION_RULE: PolicyRule = {
  judges: ['pod', 'template'],
  isSet: ({ preemption }) => preemption === 'Never',
  breaks: ({ pod }, { name: policy, preemption, substitutes }) => {
    if (preemption === 'Allow' || pod.spec.preemptionPolicy === PREEMPT_NEVER) return undefined;
    const { priorityClassName = '' } = pod.spec;
    const facts = { policy, namespace: pod.namespace, priorityClassName };
    const substitute = substitutes.get(priorityClassName);
    return reasonOf(ROOM_RULE_MESSAGES.preemptionNotAllowed, { ...facts, substitute }, facts);
  },
  breaksUnknown: ({ pod: { namespace, spec } }, { name: policy, preemption }) => {
    if (preemption === 'Allow') return undefined;
    const facts = { policy, namespace, priorityClassName: spec.priorityClassName ?? '' };
    return reasonOf(ROOM_RULE_MESSAGES.missingClassMayPreempt, facts, facts);
  },
  compiled: ({ preemption }) => ({ preemption }),
  cel: (scope) => ({
    fault: `(rule.preemption == 'Never' && ${celOrUnknown(scope, "variables.preemptionPolicy != 'Never'")})`,
    isChoice: true,
    sentence: [
      ...(scope.mayBeUnknown
        ? [`  !variables.isKnown ? ${CEL_POLICY} + 'forbids preemption here; ' + ${CEL_MISSING} :`]
        : []),
      `    ${CEL_POLICY} + 'forbids preemption here, but ' + variables.shownPod + ' preempts; use ' +`,
      '      (variables.className in rule.substitutePriorityClassNames ?',
      "        'priority class `' + rule.substitutePriorityClassNames[variables.className] + '`' :",
      "        'a class with preemptionPolicy `Never`')",
    ].join('\n'),
  }),
  refuses: ({ preemptionPolicy }, { preemption }) =>
    preemption === 'Never' && preemptionPolicy !== PREEMPT_NEVER
      ? 'preempts, which preemption Never forbids'
      : undefined,
};

/**
 * Some classes need a quota that limits the pod: what `limitedResources` of the ResourceQuota plugin does with an API
 * server flag. The API server itself checks only the label of the namespace.
 */
export const QUOTA_REQUIRED_RULE: PolicyRule = {
  judges: ['pod', 'template', 'group'],
  isSet: ({ requireQuotaFor }) => requireQuotaFor.length > 0,
  breaks: breaksQuotaRequiredRule,
  compiled: ({ requireQuotaFor }) => (requireQuotaFor.length > 0 ? { requireQuotaFor } : {}),
  cel: ({ mayBeUnknown, quotaLabel }) => ({
    fault: `(has(rule.requireQuotaFor) && ${mayBeUnknown ? 'variables.isKnown && ' : ''}!variables.isQuotaEnforced && variables.className in rule.requireQuotaFor)`,
    sentence: `    ${CEL_POLICY} + 'allows ' + variables.shownClass + ' only where a quota covers it, ${PHRASES.withoutQuotaLabel(quotaLabel)}'`,
  }),
  problems: ({ requireQuotaFor }, { classes, whyRefused }) =>
    requireQuotaFor
      .filter((name) => {
        const needing = classes.get(name);
        return needing === undefined || whyRefused(needing) !== undefined;
      })
      .map((name) => `requireQuotaFor: class \`${name}\` can never be used here`),
};

/**
 * The namespace needs the label by which the quota entry is asked, because that entry fails closed; there, a
 * ResourceQuota with a PriorityClass scope covers the pods it counts, like a PriorityQuota.
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
    return reasonOf(ROOM_RULE_MESSAGES.quotaLabelRequired, { ...facts, label }, facts);
  const isCovered =
    classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).length > 0 ||
    cluster.priorityQuotas.some((quota) => limitsPod(quota, pod, labels));
  return isCovered ? undefined : reasonOf(ROOM_RULE_MESSAGES.quotaRequired, facts, facts);
}

function limitsPod({ namespaces, scope, hard }: PriorityQuota, pod: Pod, labels: ReadonlyMap<string, string>): boolean {
  return namespaces.matches(labels) && countsPod(scope, pod) && [...hard.keys()].some(countsPods);
}

/** The quotas of a namespace that limit a pod because of its priority class. */
export function classQuotasOf(pod: Pod, quotas: readonly ResourceQuota[]): readonly ResourceQuota[] {
  return quotas.filter((quota) => {
    if (!quota.scopes.some(({ scopeName }) => scopeName === 'PriorityClass')) return false;
    const answer = matchesQuota(quota, pod);
    return answer.ok && answer.matches;
  });
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
      return reasonOf(ROOM_RULE_MESSAGES.countedWithoutLabel, { ...facts, label: cluster.quotaLabel }, facts);
    });
}

/** The same for the API server; the entry of such a quota contains nothing else. */
export function celLabelRule({ quotaLabel }: CelScope): CelRule {
  const isCounted = [
    '(has(rule.countedPriorityClassNames) && variables.className in rule.countedPriorityClassNames)',
    '(has(rule.countedPriority) && variables.priority >= rule.countedPriority.min && variables.priority <= rule.countedPriority.max)',
  ].join(' || ');
  return {
    fault: `(!variables.isQuotaEnforced && (${isCounted}))`,
    sentence: `    'quota \`' + rule.policy + '\` counts ' + variables.shownPods + ' here, ${PHRASES.withoutQuotaLabel(quotaLabel)}'`,
  };
}
