import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodRequest, Requester } from '#shared/domain/admission/request.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_LIMITS, type PriorityClass, type PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import { amountsOf, buildPod, selectorOf, type PodFields } from './cluster.ts';

export const NOW = Date.UTC(2026, 0, 1);
const EVERYTHING = prepareSelector(selectorOf({}));

/** A class that preempts, unless said otherwise. */
export function buildClass(name: string, value: number, more: Partial<PriorityClass> = {}): PriorityClass {
  return { name, uid: `uid-${name}`, value, isGlobalDefault: false, preemptionPolicy: 'PreemptLowerPriority', ...more };
}

/** A policy that selects everyone everywhere and forbids nothing, unless said otherwise. */
export function buildPolicy(name: string, more: Partial<PriorityPolicy> = {}): PriorityPolicy {
  return {
    ...NO_LIMITS,
    name,
    namespaces: EVERYTHING,
    subjects: [],
    defaultClassName: undefined,
    classRules: [],
    substitutes: new Map(),
    onViolation: 'Deny',
    schedulerName: undefined,
    ...more,
  };
}

/** A quota of namespace `team-a` for the pods of one class. */
export function buildClassQuota(
  name: string,
  className: string,
  { hard, used }: { readonly hard: Readonly<Record<string, string>>; readonly used: Readonly<Record<string, string>> },
): ResourceQuota {
  return {
    namespace: 'team-a',
    name,
    scopes: [{ scopeName: 'PriorityClass', operator: 'In', values: [className] }],
    hard: amountsOf(hard),
    used: amountsOf(used),
  };
}

export interface WorldFields {
  readonly classes?: readonly PriorityClass[];
  readonly policies?: readonly PriorityPolicy[];
  readonly quotas?: readonly ResourceQuota[];
  readonly priorityQuotas?: readonly PriorityQuota[];
  readonly knownPods?: readonly Pod[];
  readonly isPartial?: boolean;
  /** Labels of namespace `team-a`, the only one there is. */
  readonly labels?: Readonly<Record<string, string>>;
}

export function buildWorld(fields: WorldFields = {}): ClusterState {
  const labels = new Map(Object.entries(fields.labels ?? {}));
  return {
    now: NOW,
    classes: new Map((fields.classes ?? []).map((each) => [each.name, each])),
    policies: fields.policies ?? [],
    priorityQuotas: fields.priorityQuotas ?? [],
    quotaNamespaces: QUOTA_NAMESPACES,
    quotaLabel: QUOTA_LABEL,
    namespaceNames: () => ['team-a'],
    knownPods: { pods: fields.knownPods ?? [], isPartial: fields.isPartial ?? false },
    namespaceLabels: (namespace) => (namespace === 'team-a' ? labels : undefined),
    resourceQuotas: (namespace) => (fields.quotas ?? []).filter((quota) => quota.namespace === namespace),
  };
}

export const ALICE: Requester = { name: 'alice', groups: ['developers', 'system:authenticated'] };

/** A request by alice for a pod in `team-a`; `priority` fields go into the spec. */
export function buildRequest(
  spec: Partial<Pod['spec']> = {},
  more: Partial<PodRequest> = {},
  fields: Partial<PodFields> = {},
): PodRequest {
  const pod = buildPod({ name: 'web', namespace: 'team-a', ...fields, spec });
  return {
    pod,
    requester: ALICE,
    serviceAccountName: 'default',
    schedulerName: 'default-scheduler',
    classNamedBy: 'unknown',
    ownerKind: undefined,
    recordedRule: undefined,
    asksSpareRoom: false,
    annotationProblems: [],
    ...more,
  };
}
