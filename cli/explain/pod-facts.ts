import { ownerKeyOf, hasEnded, isPreempted, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { isFresh, isSameOwner, lastingEntries } from '#shared/api/node-pressure.ts';
import {
  PROTECTION_WITHOUT_POLICY,
  protectionByPolicy,
  type Selection,
  selectPolicy,
} from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { explainHeldRoom } from '#shared/domain/preemption/explain/explain-stuck-preemptor.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { KEPT_BY_QUEUES } from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import { evictionRules } from '#shared/decide/eviction/ranking/rank-node.ts';
import { podGang } from '#shared/decide/pods/pod-gang.ts';
import { namespaceStates } from '#shared/decide/simulation/agent-answer.ts';
import { nominatedSince, placementOf } from '#cli/cluster/placement.ts';
import { protectionOf } from '#shared/domain/eviction/protection.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { countsPod, prepareBudget } from '#shared/domain/snapshot/placed-pod.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import { countedClasses } from '#cli/check/policy-findings.ts';
import type { ClusterModel, CountedQuota } from '#cli/cluster/cluster-model.ts';
import type { Metadata } from '#cli/output/answer.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import {
  type Amounts,
  sortedNames,
  subtractAmounts,
  compareQuantities,
  type Quantity,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import {
  avoided,
  budget,
  NO_FRESH_REPORT,
  NO_POLICY,
  NOT_AMONG_NEXT,
  NOT_ON_A_NODE,
  NOT_PROTECTED,
  place,
  policy,
  policyUnreadable,
} from './messages.ts';
import { ownerLosses, type RecordsOfNamespace } from './owner-losses.ts';

/** How decisions treat one pod. */
export interface PodFacts {
  readonly metadata: Metadata;
  readonly priority: number;
  readonly priorityClassName: string;
  /** The rule that gave the class, as recorded on the pod. */
  readonly classRule?: string;
  readonly preemptionPolicy: string;
  readonly qosClass: string;
  readonly node: string;
  readonly owner: string;
  /** The NodePressurePolicy of its node. */
  readonly nodePressurePolicy: string;
  /** Its place among the pods that would be evicted next. */
  readonly evictionOrder: string;
  readonly protectedFromEviction: string;
  /** From a preemptor of an ordinary priority class. */
  readonly protectedFromPreemption: string;
  readonly disruptionBudgets: readonly string[];
  /** In a namespace whose pods wait in queues: its queue, and what it waits for. */
  readonly queue?: string;
  /** If it names a gang: how many of its pods exist, and how many run together. */
  readonly gang?: string;
  /**
   * For a pod that waits for a node or was preempted: which pods hold the room, which are still leaving, and what is
   * unknown.
   */
  readonly room: readonly string[];
  /** Nodes that its owner should avoid for some time. */
  readonly avoidedNodes: readonly string[];
  /** If there are ReschedulingPolicies: why each of them moves the pod or leaves it. */
  readonly rescheduling?: readonly string[];
  /** What its owner lost in the last days, as Disruptions record it. */
  readonly removals: string;
}

/** Facts in addition to the model of a cluster. */
export interface BesideModel {
  readonly now: Instant;
  readonly records: RecordsOfNamespace;
  readonly queue?: string | undefined;
  readonly rescheduling?: readonly string[] | undefined;
}

/** Collects the facts about a pod at `now`. */
export function podFacts(model: ClusterModel, pod: Pod, { now, records, queue, rescheduling }: BesideModel): PodFacts {
  const { spec } = pod;
  const classRule = pod.annotations.get(ANNOTATION_CLASS_RULE);
  const gang = podGang(pod, model.pods);
  return {
    metadata: { namespace: pod.namespace, name: pod.name },
    priority: spec.priority ?? 0,
    priorityClassName: spec.priorityClassName ?? '',
    ...(classRule !== undefined && { classRule }),
    preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
    qosClass: reportedQosClass(pod),
    ...(queue !== undefined && { queue }),
    ...(gang !== undefined && { gang }),
    ...(rescheduling !== undefined && { rescheduling }),
    node: spec.nodeName ?? '',
    owner: ownerText(pod),
    nodePressurePolicy: policyText(model, pod),
    evictionOrder: orderText(model, pod, now),
    protectedFromEviction: evictionText(model, pod),
    protectedFromPreemption: preemptionText(model, pod),
    disruptionBudgets: budgetsOf(model.budgets, pod),
    room: roomTexts(model, pod, now),
    avoidedNodes: avoidedNodes(model, pod, now),
    removals: ownerLosses(records, pod, now),
  };
}

/** The owner of a pod as `Kind/name`; empty without one. */
export function ownerText(pod: Pod): string {
  const owner = ownerKeyOf(pod);
  return owner === undefined ? '' : `${owner.kind}/${owner.name}`;
}

function selectionFor({ nodes, policies }: ClusterModel, { spec }: Pod): Selection {
  const node = nodes.find(({ name }) => name === spec.nodeName);
  return selectPolicy(policies, node?.labels ?? new Map());
}

function policyText(model: ClusterModel, pod: Pod): string {
  if ((pod.spec.nodeName ?? '') === '') return NOT_ON_A_NODE;
  const selection = selectionFor(model, pod);
  if (selection.kind === 'none') return NO_POLICY;
  if (selection.kind === 'unreadable') return policyUnreadable(selection.name, selection.field, selection.message);
  return policy(selection.policy.policy.name, selection.policy.policy.mode);
}

function orderText({ pressures }: ClusterModel, pod: Pod, now: Instant): string {
  if ((pod.spec.nodeName ?? '') === '') return NOT_ON_A_NODE;
  const status = pressures.find(({ name }) => name === pod.spec.nodeName)?.status;
  if (!isFresh(status, now)) return NO_FRESH_REPORT;
  const index = status.next.findIndex(({ uid }) => uid === pod.uid);
  return index < 0 ? NOT_AMONG_NEXT : place(index + 1, status.next[index]?.because.text ?? '');
}

function evictionText(model: ClusterModel, pod: Pod): string {
  const selection = selectionFor(model, pod);
  const protection =
    selection.kind === 'selected' ? protectionByPolicy(selection.policy.policy) : PROTECTION_WITHOUT_POLICY;
  return protectionOf(pod, evictionRules(protection, namespaceStates(model.namespaces)))?.text ?? NOT_PROTECTED;
}

function preemptionText({ classes }: ClusterModel, pod: Pod): string {
  const ordinary = { ...pod, spec: { ...pod.spec, priority: 0 } };
  return protectedFromPreemption((name) => classes.get(name))(pod, ordinary)?.text ?? NOT_PROTECTED;
}

/** Which of these PodDisruptionBudgets count a pod, and what each of them still allows. */
export function budgetsOf(budgets: ClusterModel['budgets'], pod: Pod): readonly string[] {
  return budgets
    .filter((each) => countsPod(prepareBudget(each, 0), pod))
    .map(({ name, disruptionsAllowed }) => budget(name, disruptionsAllowed));
}

const ABOUT_ROOM: readonly string[] = ['RoomHeld', 'Terminating', 'OutsideTheModel', ...Object.keys(KEPT_BY_QUEUES)];

function roomTexts(model: ClusterModel, pod: Pod, now: Instant): readonly string[] {
  if (hasEnded(pod)) return [];
  return reasonsAboutRoom(model, pod, now)
    .filter(({ code }) => ABOUT_ROOM.includes(code))
    .map(({ text }) => text);
}

function reasonsAboutRoom(model: ClusterModel, pod: Pod, now: Instant): readonly Because[] {
  const { nodeName = '' } = pod.spec;
  if (nodeName === '') return placementOf(model, pod, { extender: true, budgets: 'BestEffort', now }).explanations;
  if (!isPreempted(pod)) return [];
  const state = prefilter(createSnapshot(model), pod);
  return explainHeldRoom(state, [nodeName], { now, nominatedSince: nominatedSince(model) });
}

function avoidedNodes({ pressures }: ClusterModel, pod: Pod, now: Instant): readonly string[] {
  const owner = ownerKeyOf(pod);
  if (owner === undefined) return [];
  return pressures.flatMap((each) =>
    lastingEntries(each, now)
      .filter((entry) => isSameOwner(entry.owner, owner))
      .map(({ until, cause, hard }) => avoided(each.name, new Date(until).toISOString(), cause, hard)),
  );
}

/** What a PriorityQuota limits, and which namespaces use it; with a namespace, a ResourceQuota. */
export interface QuotaFacts {
  readonly metadata: Metadata;
  /** The pods that it counts. */
  readonly scope: string;
  readonly resources: readonly ResourceFacts[];
}

interface ResourceFacts {
  readonly resource: string;
  readonly hard: string;
  readonly used: string;
  readonly free: string;
  /** The largest first, five at most. */
  readonly namespaces: readonly { readonly namespace: string; readonly used: string }[];
}

const MAX_NAMESPACES = 5;

type QuotaUsage = Pick<CountedQuota, 'name' | 'scope' | 'hard' | 'used' | 'byNamespace'>;

export function quotaFacts(quota: QuotaUsage): QuotaFacts {
  return { metadata: { name: quota.name }, scope: scopeText(quota.scope), resources: resourcesOf(quota) };
}

/** The same of a ResourceQuota, in this namespace unless it names another. */
export function namespacedQuota(quota: ResourceQuota, fallback: string): QuotaFacts {
  const scope = countedClasses(quota);
  return {
    metadata: { namespace: quota.namespace || fallback, name: quota.name },
    scope: scope === undefined ? 'pods of every priority' : scopeText(scope),
    resources: resourcesOf({ ...quota, byNamespace: new Map() }),
  };
}

function resourcesOf(quota: Omit<QuotaUsage, 'name' | 'scope'>): readonly ResourceFacts[] {
  const free = subtractAmounts(quota.hard, quota.used);
  return sortedNames(quota.hard).map((resource) => ({
    resource,
    hard: amountText(quota.hard, resource),
    used: amountText(quota.used, resource),
    free: amountText(free, resource),
    namespaces: largestNamespaces(quota, resource),
  }));
}

function scopeText(scope: PriorityScope): string {
  if (scope.kind === 'range') return `priority ${scope.min} to ${scope.max}`;
  return `priority classes ${[...scope.names].sort().join(', ')}`;
}

function largestNamespaces(
  { byNamespace }: Pick<QuotaUsage, 'byNamespace'>,
  resource: string,
): ResourceFacts['namespaces'] {
  const held = Array.from(byNamespace, ([namespace, used]) => ({ namespace, amount: amountOf(used, resource) }));
  return held
    .filter(({ amount }) => compareQuantities(amount, ZERO) > 0)
    .toSorted((a, b) => compareQuantities(b.amount, a.amount) || compareTexts(a.namespace, b.namespace))
    .slice(0, MAX_NAMESPACES)
    .map(({ namespace, amount }) => ({ namespace, used: formatQuantity(amount) }));
}

function amountOf(amounts: Amounts, resource: string): Quantity {
  return amounts.get(resource) ?? ZERO;
}

function amountText(amounts: Amounts, resource: string): string {
  return formatQuantity(amountOf(amounts, resource));
}
