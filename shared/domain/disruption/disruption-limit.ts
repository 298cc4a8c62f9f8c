import type { Retention } from './disruption.ts';
import type { PreparedSelector, Selector } from '#shared/domain/labels/label-selector.ts';
import { DEFAULT_KEY, type LimitRule, type RateLimit, type CoveringRule } from './limit-rule.ts';
import { isReady } from '#shared/domain/pod/pod-conditions.ts';
import { controllerOf, hasEnded, isKubeletRefusal, type Pod } from '#shared/domain/pod/pod.ts';

/** A `plimsoll.dev/v1alpha1` DisruptionLimit, without its status. */
export interface DisruptionLimit extends Omit<LimitRule, 'key'> {
  readonly namespace: string;
  readonly name: string;
  /** The pods of its namespace that it covers; an empty selector covers all of them. */
  readonly selector: PreparedSelector;
}

/** Defaults for owners without a limit and a budget, by the priority of their pods (S3-18). */
export interface DefaultLimit extends Pick<LimitRule, 'minAvailable'> {
  readonly min: number;
  readonly max: number;
  readonly limits: readonly RateLimit[];
}

/** What happens to a PodDisruptionBudget that forbids every eviction (S3-17). */
export const BUDGET_RESPONSES = ['Show', 'Warn', 'Deny'] as const;
export type BudgetResponse = (typeof BUDGET_RESPONSES)[number];

/** The one DisruptionPolicy of a cluster. */
export interface DisruptionPolicy {
  readonly name: string;
  /** The first one whose range contains the priority applies. */
  readonly defaults: readonly DefaultLimit[];
  readonly forbiddingBudgets: BudgetResponse;
  /** Of the record of removed pods. */
  readonly retention: Retention;
}

/** The spec of a PodDisruptionBudget, and the status that its controller last wrote. */
export interface WrittenBudget {
  readonly maxUnavailable: number | string | undefined;
  readonly minAvailable: number | string | undefined;
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** More pods than any workload has: Kubernetes supports 150,000 in a cluster. */
const MORE_THAN_ANY = 100_000;

/**
 * Why a budget never allows an eviction of the pods that are expected; `undefined` if it may allow one (S3-17). Without
 * pods only what holds for any number of them is known.
 */
export function forbidsEverything(budget: WrittenBudget): 'maxUnavailable' | 'minAvailable' | undefined {
  const { maxUnavailable, minAvailable, expectedPods, desiredHealthy } = budget;
  if (maxUnavailable !== undefined && /^0+%?$/.test(String(maxUnavailable))) return 'maxUnavailable';
  if (minAvailable === undefined) return undefined;
  const least = leastAvailable(String(minAvailable), expectedPods);
  // The controller counts the pods that a controller of theirs is to have, too.
  const isAll = expectedPods > 0 && Math.max(least, desiredHealthy) >= expectedPods;
  return least >= MORE_THAN_ANY || isAll ? 'minAvailable' : undefined;
}

/** How many of the pods must stay available; infinite if it is all of them, whatever their number. */
function leastAvailable(minAvailable: string, expectedPods: number): number {
  const value = Number.parseInt(minAvailable, 10);
  if (Number.isNaN(value)) return 0;
  if (!minAvailable.endsWith('%')) return value;
  return value >= 100 ? Infinity : Math.ceil((value * expectedPods) / 100);
}

/** The limits that may cover the pods of a namespace. */
export interface LimitsOfNamespace {
  readonly limits: readonly DisruptionLimit[];
  /** Of its PodDisruptionBudgets: an owner whose pods one of them selects has no default limit (S3-18). */
  readonly budgets: readonly Selector[];
  readonly policy: DisruptionPolicy | undefined;
}

/** The limits of a cluster; it has one policy. */
export interface LimitObjects {
  readonly limits: Iterable<DisruptionLimit>;
  readonly policies: Iterable<DisruptionPolicy>;
}

/** What limits removals in a namespace, read once for all namespaces of interest. */
export function limitsByNamespace(
  known: LimitObjects,
  { budgets }: { readonly budgets: ReadonlyMap<string, ReadonlyMap<string, { readonly selector: Selector }>> },
): (namespace: string) => LimitsOfNamespace {
  const limits = Map.groupBy(known.limits, ({ namespace }) => namespace);
  const [policy] = known.policies;
  return (namespace) => ({
    limits: limits.get(namespace) ?? [],
    budgets: Array.from(budgets.get(namespace)?.values() ?? [], ({ selector }) => selector),
    policy,
  });
}

/** What limits need to know about a pod. */
export type Coverable = Pick<Pod, 'labels' | 'owners'> & {
  readonly spec: Pick<Pod['spec'], 'priority'>;
  readonly status: Pick<Pod['status'], 'phase' | 'reason'>;
};

/**
 * Whether the pod waits for its first run, or a kubelet refused it. The API server evicts a pending pod whatever its
 * budget (`canIgnorePDB`).
 */
export function hasNotRun({ status }: Pick<Coverable, 'status'>): boolean {
  const { phase, reason = '' } = status;
  return phase === 'Pending' || (phase === 'Failed' && isKubeletRefusal(reason));
}

/** A rule, and whether it covers another pod of the namespace. */
type CoveringPods = LimitRule & { readonly covers: (other: Coverable) => boolean };

/** The key of a DisruptionLimit in debits, and that of an owner with a default limit. */
export function keyOfLimit(name: string): string {
  return `limit/${name}`;
}

/**
 * The rules that cover a pod: each DisruptionLimit that selects it; without one and without a budget, the default of its
 * priority. None cover a pod that has not run: nothing is lost with it.
 */
export function rulesOf(pod: Coverable, { limits, budgets, policy }: LimitsOfNamespace): readonly CoveringPods[] {
  if (hasNotRun(pod)) return [];
  const own = limits.filter(({ selector }) => selector.matches(pod.labels));
  if (own.length > 0)
    return own.map((limit) => ({ ...ruleOf(limit), covers: ({ labels }) => limit.selector.matches(labels) }));
  if (budgets.some((budget) => budget.matches(pod.labels))) return [];
  const owner = controllerOf(pod);
  const found = owner && policy?.defaults.find(({ min, max }) => isBetween(pod.spec.priority ?? 0, min, max));
  if (owner === undefined || found === undefined) return [];
  const { limits: rates, minAvailable } = found;
  const rule = { key: `${DEFAULT_KEY}${owner.uid}`, limits: rates, minAvailable, shares: new Map() };
  return [{ ...rule, covers: (other) => controllerOf(other)?.uid === owner.uid }];
}

function isBetween(value: number, min: number, max: number): boolean {
  return min <= value && value <= max;
}

function ruleOf({ name, limits, minAvailable, shares }: DisruptionLimit): LimitRule {
  return { key: keyOfLimit(name), limits, minAvailable, shares };
}

/** The rules that cover a pod, with the pods of its namespace that they cover. */
export function coveringRules(pod: Coverable, pods: Iterable<Pod>, of: LimitsOfNamespace): readonly CoveringRule[] {
  const rules = rulesOf(pod, of);
  if (rules.length === 0) return [];
  const all = [...pods];
  return rules.map(({ covers, ...rule }) => ({ rule, ...countPods(all.filter(covers)) }));
}

/**
 * Pods that are expected and pods that are up. A terminating pod is replaced at once, except by a StatefulSet, which
 * waits until it is gone; a pod waiting for a gate or a node is expected, as in `pkg/controller/disruption`.
 */
export function countPods(pods: readonly Pod[]): Omit<CoveringRule, 'rule'> {
  const present = pods.filter((pod) => !hasEnded(pod));
  const expected = present.filter(
    (pod) => pod.deletion === undefined || controllerOf(pod)?.kind === 'StatefulSet',
  ).length;
  const up = present.filter((pod) => pod.deletion === undefined && isReady(pod));
  return { expected, up: new Set(up.map(({ uid }) => uid)) };
}
