import {
  type Amounts,
  addAmounts,
  NO_AMOUNTS,
  type Quantity,
  compareQuantities,
} from '#shared/domain/quantity/quantity.ts';
import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  fieldsNaming,
  type PriorityPolicy,
  type PriorityClasses,
} from '#shared/domain/priority/classes-and-policies.ts';
import { type ApiRefusal, displayName, forbidden, untypedError } from '#shared/domain/base/api-refusal.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { isNativeResource } from '#shared/domain/quantity/resource-columns.ts';

/** Which pods a PriorityQuota counts. */
export type PriorityScope =
  | { readonly kind: 'classes'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'range'; readonly min: number; readonly max: number };

/**
 * A PriorityQuota as decisions use it: a limit on what pods of some priorities may request together, across namespaces.
 */
export interface PriorityQuota {
  readonly name: string;
  readonly namespaces: PreparedSelector;
  readonly scope: PriorityScope;
  readonly hard: Amounts;
  /**
   * The cost of a container that does not set the value, by resource name of `hard`; without it, the pod is refused.
   */
  readonly defaultRequest: Amounts;
  /** Refuses the pods that it counts in selected namespaces where it is not in force. */
  readonly requireLabel: boolean;
}

/** A priority and its class; empty without a class. */
export interface PriorityLevel {
  readonly className: string;
  readonly priority: number;
}

/** Whether a quota of this scope counts pods of a level. */
export function isInScope(scope: PriorityScope, { className, priority }: PriorityLevel): boolean {
  if (scope.kind === 'classes') return scope.names.has(className);
  return priority >= scope.min && priority <= scope.max;
}

/** Whether the quota counts a pod: by its class name, or by its priority (0 if it has none). */
export function countsPod(scope: PriorityScope, { spec }: Pod): boolean {
  return isInScope(scope, { className: spec.priorityClassName ?? '', priority: spec.priority ?? 0 });
}

/** The places where policies and quotas name a class: `PriorityPolicy \`p\` (defaultPriorityClassName)`. */
export function classMentions(
  className: string,
  policies: readonly PriorityPolicy[],
  quotas: readonly PriorityQuota[],
): readonly string[] {
  const byPolicies = policies.flatMap((policy) =>
    fieldsNaming(className, policy).map((field) => `PriorityPolicy \`${policy.name}\` (${field})`),
  );
  const byQuotas = quotas
    .filter(({ scope }) => scope.kind === 'classes' && scope.names.has(className))
    .map(({ name }) => `PriorityQuota \`${name}\` (priorityClassNames)`);
  return [...byPolicies, ...byQuotas];
}

/** The settings of a PriorityQuota that can never take effect with the existing classes, as sentences. */
export function reviewQuota({ scope, hard }: PriorityQuota, classes: PriorityClasses): readonly string[] {
  const uncharged = [...hard.keys()].filter((name) => !countsPods(name));
  return [
    ...scopeProblems(scope, classes),
    ...uncharged.map((name) => `hard[${name}]: pods are not charged for this resource`),
  ];
}

function scopeProblems(scope: PriorityScope, classes: PriorityClasses): readonly string[] {
  if (scope.kind === 'classes') {
    const missing = [...scope.names].filter((name) => !classes.has(name));
    return missing.map((name) => `priorityClassNames: there is no class \`${name}\``);
  }
  const { min, max } = scope;
  // Pods without a class have priority 0.
  const isMet = (min <= 0 && max >= 0) || [...classes.values()].some(({ value }) => value >= min && value <= max);
  return isMet ? [] : [`priority: there is no class from ${min} to ${max}`];
}

/** A resource for which a quota has no room. */
export interface Excess {
  readonly resource: string;
  /** What the request adds. */
  readonly asked: Quantity;
  readonly used: Quantity;
  readonly hard: Quantity;
}

/** The API server's answer to a request that a quota refuses, and why. */
export interface QuotaRefusal extends ApiRefusal {
  readonly because: Because & { readonly code: QuotaRefusalCode };
  /** Only with `QuotaExceeded`. */
  readonly exceeded: readonly Excess[];
}

type QuotaRefusalCode =
  | 'ScopeUnreadable'
  | 'ValuesMissing'
  | 'UsageUnknown'
  | 'UsageNegative'
  | 'OldPodMissing'
  | 'ResourcesNotCovered'
  | 'ScopesNotCovered'
  | 'QuotaExceeded';

type Facts = Because['facts'];

/** 403 with the pod's name before the text. */
export function forbid(pod: Pod, code: QuotaRefusalCode, text: string, facts: Facts): QuotaRefusal {
  return { ...forbidden('pods', displayName(pod), text), because: { code, text, facts }, exceeded: [] };
}

/** 500: the API server gives these neither a reason nor a prefix (oddities K1, K2). */
export function fail(code: QuotaRefusalCode, text: string, facts: Facts): QuotaRefusal {
  return { ...untypedError(text), because: { code, text, facts }, exceeded: [] };
}

/** What a quota allows, and the highest priority that it allows it to. */
export interface QuotaLevel {
  readonly name: string;
  readonly priority: number;
  readonly hard: Amounts;
}

/** A resource of which quotas allow more, in sum, than the nodes have. */
export interface Overcommitment {
  readonly resource: string;
  readonly allowed: Quantity;
  readonly allocatable: Quantity;
  readonly quotas: readonly string[];
}

/** The sum over all quotas, and over those of the highest priority. */
interface Overcommitments {
  readonly top: readonly Overcommitment[];
  readonly all: readonly Overcommitment[];
}

/**
 * Compares the sum of quotas with what the nodes have (S3-12). If the quotas of the highest priority exceed it, not
 * every pod within its quota can run, no matter what is preempted. If only all of them together exceed it, that is
 * overcommitment: lower priorities yield.
 */
export function overcommitments(quotas: readonly QuotaLevel[], allocatable: Amounts): Overcommitments {
  const highest = Math.max(...quotas.map(({ priority }) => priority));
  const top = quotas.filter(({ priority }) => priority === highest);
  return { top: exceeding(top, allocatable), all: exceeding(quotas, allocatable) };
}

function exceeding(quotas: readonly QuotaLevel[], allocatable: Amounts): readonly Overcommitment[] {
  const limits = quotas.map(({ name, hard }) => ({ name, hard: requestedAmounts(hard) }));
  const sum = limits.reduce<Amounts>((all, { hard }) => addAmounts(all, hard), NO_AMOUNTS);
  return Array.from(sum).flatMap(([resource, allowed]) => {
    const present = allocatable.get(resource);
    if (present === undefined || compareQuantities(allowed, present) <= 0) return [];
    const named = limits.filter(({ hard }) => hard.has(resource)).map(({ name }) => name);
    return [{ resource, allowed, allocatable: present, quotas: named }];
  });
}

/** By the node's name for the resource. `cpu` of a quota is short for `requests.cpu`; limits take no room. */
function requestedAmounts(hard: Amounts): Amounts {
  return new Map(
    Array.from(
      hard,
      ([name, amount]) => [name.startsWith(REQUESTS) ? name.slice(REQUESTS.length) : name, amount] as const,
    ),
  );
}

/** Parts of the resource names that quotas know. */
export const COMPUTE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
export const HUGE_PAGES = 'hugepages-';
export const REQUESTS = 'requests.';
export const LIMITS = 'limits.';
export const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';

const FIXED: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name]),
]);

/**
 * Whether a quota resource name counts pods, and not services, claims or other objects.
 * `pkg/quota/v1/evaluator/core/pods.go` MatchingResources.
 */
export function countsPods(name: string): boolean {
  if (FIXED.has(name) || name.startsWith(HUGE_PAGES)) return true;
  if (!name.startsWith(REQUESTS)) return false;
  const resource = name.slice(REQUESTS.length);
  return resource.startsWith(HUGE_PAGES) || resource.startsWith(DEVICE_CLASS) || !isNativeResource(name);
}
