import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import type { PriorityClasses, PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { addAmounts, type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  isInScope,
  type PriorityScope,
  type Overcommitment,
  overcommitments,
  type QuotaLevel,
} from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodeResourceQuota, decodeWrittenBudget } from '#shared/kube/decode/decode-objects.ts';
import { NAMESPACE_NODE, NAMESPACE_SYSTEM, QUEUE_POLICY_NAMES } from '#shared/kube/api-names.ts';
import { NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { MUTATING_POLICIES, PRIORITY_QUOTAS, RESOURCE_QUOTAS, PDBS, PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { forbidsEverything } from '#shared/domain/disruption/disruption-limit.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { isManaged } from '#shared/kube/annotations/annotations.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type Manifest, nameOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import {
  quotasAboveNodes,
  quotasOvercommit,
  quotasWithinNodes,
  budgetsForbidEverything,
  preemptsByQueues,
  preemptsPastQueues,
} from './messages.ts';

/** Compares the sum of the quotas by priority with what the nodes have (S3-12). */
export function quotaFindings(
  manifests: readonly Manifest[],
  { nodes, classes }: Pick<ClusterModel, 'nodes' | 'classes'>,
): readonly Finding[] {
  const levels = [...priorityQuotas(manifests, classes), ...resourceQuotas(manifests, classes)];
  if (levels.length === 0) return [];
  const allocatable = nodes.reduce<Amounts>((sum, node) => addAmounts(sum, node.allocatable), NO_AMOUNTS);
  const { top, all } = overcommitments(levels, allocatable);
  const overcommitted = all.filter(({ resource }) => !top.some((each) => each.resource === resource));
  const found = [...top.map(shown).map(quotasAboveNodes), ...overcommitted.map(shown).map(quotasOvercommit)];
  return found.length === 0 ? [quotasWithinNodes(levels.length)] : found;
}

function shown({ allowed, allocatable, ...other }: Overcommitment) {
  return { ...other, allowed: formatQuantity(allowed), allocatable: formatQuantity(allocatable) };
}

function priorityQuotas(manifests: readonly Manifest[], classes: PriorityClasses): readonly QuotaLevel[] {
  return ofKind(manifests, PRIORITY_QUOTAS).flatMap((manifest) => {
    const { name, scope, hard } = decodeManifest(manifest, decodePriorityQuota);
    return levelOf(`PriorityQuota ${name}`, (level) => isInScope(scope, level), hard, classes);
  });
}

/**
 * Those whose scope selects priority classes; others are no limit by priority. Those in our own namespaces only let our
 * pods have a critical class.
 */
function resourceQuotas(manifests: readonly Manifest[], classes: PriorityClasses): readonly QuotaLevel[] {
  return ofKind(manifests, RESOURCE_QUOTAS).flatMap((manifest) => {
    const quota = decodeManifest(manifest, decodeResourceQuota);
    const scope = countedClasses(quota);
    if (scope === undefined || OWN_NAMESPACES.includes(quota.namespace)) return [];
    const name = `ResourceQuota ${quota.namespace}/${quota.name}`;
    return levelOf(name, (level) => isInScope(scope, level), quota.hard, classes);
  });
}

const OWN_NAMESPACES: readonly string[] = [NAMESPACE_SYSTEM, NAMESPACE_NODE];

/** The priority classes that a ResourceQuota counts; `undefined` if it counts pods of every class. */
export function countedClasses({ scopes }: Pick<ResourceQuota, 'scopes'>): PriorityScope | undefined {
  const term = scopes.find(({ scopeName, operator }) => scopeName === 'PriorityClass' && operator === 'In');
  return term && { kind: 'classes', names: new Set(term.values) };
}

/** A quota of classes that do not exist allows nothing. */
function levelOf(
  name: string,
  counts: (level: { readonly className: string; readonly priority: number }) => boolean,
  hard: Amounts,
  classes: PriorityClasses,
): readonly QuotaLevel[] {
  const counted = [...classes.values()].filter((each) => counts({ className: each.name, priority: each.value }));
  if (counted.length === 0) return [];
  return [{ name, hard, priority: Math.max(...counted.map(({ value }) => value)) }];
}

/** PodDisruptionBudgets that never allow an eviction: their namespaces make themselves immune (S3-17). */
export function budgetFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const budgets = ofKind(manifests, PDBS);
  const forbidding = budgets.flatMap((manifest) => {
    const budget = decodeManifest(manifest, decodeWrittenBudget);
    return forbidsEverything(budget) === undefined ? [] : [`${budget.namespace}/${budget.name}`];
  });
  return forbidding.length === 0 ? [] : [budgetsForbidEverything(forbidding)];
}

type Model = Pick<ClusterModel, 'namespaces' | 'pods' | 'podManifests'>;

/** By the label `app.kubernetes.io/component` of its pods: which scheduler asks each extender. */
const ASKED_BY: ReadonlyMap<string, string> = new Map([
  ['control-plane-extender', 'default-scheduler'],
  ['scheduler', 'plimsoll'],
]);

/**
 * Managed namespaces whose pods kube-scheduler may preempt for: it uses priority and does not know queues. A running
 * extender makes it follow the rules of queues; a policy that forbids preemption for everyone prevents it.
 */
export function queueFindings(manifests: readonly Manifest[], model: Model): readonly Finding[] {
  const policies = ofKind(manifests, PRIORITY_POLICIES).map((each) => decodeManifest(each, decodePriorityPolicy));
  const forbidding = policies.filter(forbidsPreemption);
  // The label for all parts says nothing about queues where they are not installed.
  const isInstalled = ofKind(manifests, MUTATING_POLICIES).some((each) => nameOf(each) === QUEUE_POLICY_NAMES.gate);
  const preempting = model.namespaces
    .filter(({ labels }) => isManaged(labels) && (isInstalled || labels.has(NAMESPACE_SWITCHES.queues.key)))
    .filter(({ labels }) => !forbidding.some((policy) => policy.namespaces.matches(labels)))
    .map(({ name }) => name)
    .toSorted();
  const isHeld = createIsHeld(model);
  const [held, open] = [preempting.filter(isHeld), preempting.filter((name) => !isHeld(name))];
  return [...(open.length > 0 ? [preemptsPastQueues(open)] : []), ...(held.length > 0 ? [preemptsByQueues(held)] : [])];
}

function forbidsPreemption({ preemption, onViolation, subjects }: PriorityPolicy): boolean {
  return preemption === 'Never' && onViolation === 'Deny' && subjects.length === 0;
}

/**
 * Whether each scheduler of a namespace's pods has a running extender; without pods, the cluster's default scheduler
 * counts.
 */
function createIsHeld({ pods, podManifests }: Model): (namespace: string) => boolean {
  const asking = new Set(pods.filter(isRunning).map(({ labels }) => ASKED_BY.get(componentOf(labels) ?? '')));
  const schedulers = new Map<string, Set<unknown>>();
  for (const { namespace, name } of pods) {
    const spec = fieldOf(podManifests.get(`${namespace}/${name}`)?.raw, 'spec');
    const seen = schedulers.get(namespace) ?? new Set();
    schedulers.set(namespace, seen.add(fieldOf(spec, 'schedulerName') ?? 'default-scheduler'));
  }
  return (namespace) =>
    [...(schedulers.get(namespace) ?? ['default-scheduler'])].every((each) => asking.has(String(each)));
}

function isRunning({ status }: ClusterModel['pods'][number]): boolean {
  return status.phase === 'Running';
}

function componentOf(labels: ReadonlyMap<string, string>): string | undefined {
  return labels.get('app.kubernetes.io/name') === 'plimsoll' ? labels.get('app.kubernetes.io/component') : undefined;
}
