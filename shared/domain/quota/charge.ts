import { hasEnded, type Instant, type Pod, type Resources } from '#shared/domain/pod/pod.ts';
import {
  type Amounts,
  filterAmounts,
  subtractAmounts,
  addQuantities,
  multiplyQuantity,
  type Quantity,
  quantityFromInteger,
  quantityNumber,
  quantitySign,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import {
  LARGEST_VIEW,
  podLimits,
  podRequests,
  type PodResourceOptions,
  QUOTA_VIEW,
  hasPodLevelResources,
} from '#shared/domain/pod/pod-requests.ts';
import { isExtendedResource } from '#shared/domain/quantity/resource-columns.ts';
import { COMPUTE, HUGE_PAGES, REQUESTS, LIMITS, DEVICE_CLASS } from './priority-quota.ts';

const ONE = quantityFromInteger(1, 'DecimalSI');
const MILLISECONDS = 1000;
/** With this time a deletion is never overdue: a fast clock must not release room too early. */
const BEFORE_ANY_DELETION = 0;

/**
 * What a pod costs each quota that matches it, by resource name. A pod that has ended, or whose deletion is overdue,
 * only counts as an object (oddity U1). `pkg/quota/v1/evaluator/core/pods.go` PodUsageFunc.
 */
export function charge(pod: Pod, now: Instant): Amounts {
  return chargeAsSeen(pod, now, QUOTA_VIEW);
}

/**
 * What a pod costs a PriorityQuota that counts it: never less than a ResourceQuota would charge, so that `used` can
 * only be too high. A pod costs until it is gone, and the spec of a resize counts whatever the pod's conditions are.
 * The charge also counts containers without a value (`unstatedValues`, below).
 */
export function chargeToPriorityQuota(pod: Pod): Amounts {
  const charged = withoutCredit(chargeAsSeen(pod, BEFORE_ANY_DELETION, LARGEST_VIEW));
  return hasEnded(pod) ? charged : new Map([...charged, ...unstatedValues(pod)]);
}

/** What the status of a pod says below zero, as its node may write it, would pay for other pods. */
function withoutCredit(charged: Amounts): Amounts {
  const isCredit = Array.from(charged.values()).some((amount) => quantitySign(amount) < 0);
  if (!isCredit) return charged;
  return new Map(Array.from(charged, ([name, amount]) => [name, quantitySign(amount) < 0 ? ZERO : amount]));
}

function chargeAsSeen(pod: Pod, now: Instant, view: PodResourceOptions): Amounts {
  const charged = new Map([['count/pods', ONE]]);
  if (!isLive(pod, now)) return charged;
  charged.set('pods', ONE);
  addCharge(charged, podRequests(pod, view), namesOfRequest);
  addCharge(charged, podLimits(pod, view), namesOfLimit);
  return charged;
}

function addCharge(
  charged: Map<string, Quantity>,
  amounts: Amounts,
  namesOf: (resource: string) => readonly string[],
): void {
  for (const [resource, amount] of amounts) {
    for (const name of namesOf(resource)) charged.set(name, amount);
  }
}

/** QuotaV1Pod. Without a stated grace period a deletion is never overdue. */
export function isLive(pod: Pick<Pod, 'status' | 'deletion'>, now: Instant): boolean {
  const { deletion } = pod;
  if (hasEnded(pod)) return false;
  if (deletion?.gracePeriodSeconds === undefined) return true;
  return now <= deletion.at + deletion.gracePeriodSeconds * MILLISECONDS;
}

/*
 * A quota cannot count a value that a container does not set: it refuses the pod, as a ResourceQuota does, or charges
 * its own default. A charge carries the number of such containers as a separate amount, so that a sum of charges can be
 * completed with any quota's default.
 */
const UNSTATED = 'unstated/';

/** The name of the amount that counts the containers without a value for a limited resource; `undefined` if none need it. */
export function unstatedName(resource: string): string | undefined {
  return DEMANDED.has(resource) ? UNSTATED + resource : undefined;
}

/** How many containers of a pod do not set a value, by `unstatedName`; with init containers, without zeros. */
function unstatedValues(pod: Pod): Amounts {
  const counts = Array.from(DEMANDED, (name) => [UNSTATED + name, silentContainers(pod, name).length] as const);
  return new Map(
    counts.flatMap(([name, count]) => (count === 0 ? [] : [[name, quantityFromInteger(count, 'DecimalSI')]])),
  );
}

/** What a charge depends on in a PriorityQuota. */
interface ChargingQuota {
  readonly hard: Amounts;
  /** What a container without a value is charged. */
  readonly defaultRequest: Amounts;
}

/** What a pod must set for a quota, `requests.memory for: app,init`; `undefined` if nothing is missing. */
export function missingFor({ hard, defaultRequest }: ChargingQuota, pod: Pod): string | undefined {
  const limited = [...hard.keys()].filter((name) => !defaultRequest.has(name));
  return describeMissing(pod, limited, silentContainers);
}

/**
 * A ResourceQuota requires nothing of a pod with any pod-level resources (oddity K6), so a pod that sets only cpu gets
 * memory for free. Here a pod-level value replaces only the same value of its containers.
 */
function silentContainers(pod: Pod, name: string): readonly string[] {
  const { resources } = pod.spec;
  return resources !== undefined && states(resources, name) ? [] : containersWithout(pod, name);
}

/**
 * What a charge costs a quota. Each container without a value costs its default, an init container too, which is never
 * less than what the pod would request with these values.
 */
export function costTo({ hard, defaultRequest }: ChargingQuota, charged: Amounts): Amounts {
  const cost = filterAmounts(charged, (name) => hard.has(name));
  if (defaultRequest.size === 0) return cost;
  const completed = new Map(cost);
  for (const [name, amount] of defaultRequest) {
    const unstated = charged.get(UNSTATED + name);
    if (unstated !== undefined) completed.set(name, withDefault(cost.get(name) ?? ZERO, unstated, amount));
  }
  return completed;
}

/** An amount, completed for so many containers without a value. */
export function withDefault(stated: Quantity, unstated: Quantity, amount: Quantity): Quantity {
  return addQuantities(stated, multiplyQuantity(amount, quantityNumber(unstated)));
}

/** What a quota is charged when the cost of a pod grows; without resources that do not grow. */
export function growthTo(quota: ChargingQuota, after: Amounts, before: Amounts): Amounts {
  const growth = subtractAmounts(costTo(quota, after), costTo(quota, before));
  return filterAmounts(growth, (_, amount) => quantitySign(amount) > 0);
}

/** Precomputed for the resources that nearly every pod requests. */
const COMPUTE_REQUESTS = new Map(COMPUTE.map((name) => [name, [name, REQUESTS + name]]));
const COMPUTE_LIMITS = new Map(COMPUTE.map((name) => [name, [LIMITS + name]]));
const NOTHING: readonly string[] = [];

/**
 * The quota resource names that a request of a resource is charged to; empty if quotas ignore the resource (oddity U7).
 */
export function namesOfRequest(resource: string): readonly string[] {
  const compute = COMPUTE_REQUESTS.get(resource);
  if (compute !== undefined) return compute;
  if (resource.startsWith(HUGE_PAGES)) return [resource, REQUESTS + resource];
  return resource.startsWith(DEVICE_CLASS) || isExtendedResource(resource) ? [REQUESTS + resource] : [];
}

/** The quota resource names that a limit of a resource is charged to. */
export function namesOfLimit(resource: string): readonly string[] {
  return COMPUTE_LIMITS.get(resource) ?? NOTHING;
}

/** If a quota limits one of these, every container must set it. No other resource is required. */
const DEMANDED: ReadonlySet<string> = new Set([
  'cpu',
  'requests.cpu',
  'limits.cpu',
  'memory',
  'requests.memory',
  'limits.memory',
]);

/**
 * The values that a pod's containers do not set although a quota limits them, `limits.cpu for: app,init; memory for:
 * app`, or `undefined`. Init containers are checked like containers; a pod with pod-level resources is not checked
 * (oddity K6). `pkg/quota/v1/evaluator/core/pods.go` Constraints.
 */
export function missingValues(pod: Pod, limited: readonly string[]): string | undefined {
  return hasPodLevelResources(pod) ? undefined : describeMissing(pod, limited, containersWithout);
}

/** The same list of what `silentIn` finds. */
function describeMissing(
  pod: Pod,
  limited: readonly string[],
  silentIn: (pod: Pod, name: string) => readonly string[],
): string | undefined {
  const demanded = limited.filter((name) => DEMANDED.has(name)).sort();
  const complaints = demanded.flatMap((name) => {
    const silent = [...new Set(silentIn(pod, name))].sort();
    return silent.length === 0 ? [] : [`${name} for: ${silent.join(',')}`];
  });
  return complaints.length === 0 ? undefined : complaints.join('; ');
}

/** The names of the containers, init containers included, that do not state a value. */
function containersWithout({ spec }: Pod, name: string): readonly string[] {
  return [...spec.containers, ...spec.initContainers].flatMap((container) =>
    states(container.resources, name) ? [] : [container.name],
  );
}

/** `limits.cpu` requires a limit, `requests.cpu` and `cpu` require a request. */
function states({ requests, limits }: Resources, name: string): boolean {
  if (name.startsWith(LIMITS)) return limits?.has(name.slice(LIMITS.length)) === true;
  return requests?.has(name.startsWith(REQUESTS) ? name.slice(REQUESTS.length) : name) === true;
}
