import { isExtendedResource, isNativeResource } from '#shared/domain/quantity/resource-columns.ts';
import type { Pod, Resources } from '#shared/domain/pod/pod.ts';
import { hasPodLevelResources } from '#shared/domain/pod/pod-requests.ts';

const COMPUTE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';
const LIMITS = 'limits.';
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';

/** Precomputed for the resources that nearly every pod requests. */
const COMPUTE_REQUESTS = new Map(COMPUTE.map((name) => [name, [name, REQUESTS + name]]));
const COMPUTE_LIMITS = new Map(COMPUTE.map((name) => [name, [LIMITS + name]]));
const NOTHING: readonly string[] = [];

const FIXED: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name]),
]);

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

/** If a quota limits one of these, every container must set it. No other resource is required. */
export const DEMANDED: ReadonlySet<string> = new Set([
  ...['cpu', 'requests.cpu', 'limits.cpu'],
  ...['memory', 'requests.memory', 'limits.memory'],
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
export function describeMissing(
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
export function containersWithout({ spec }: Pod, name: string): readonly string[] {
  return [...spec.containers, ...spec.initContainers].flatMap((container) =>
    states(container.resources, name) ? [] : [container.name],
  );
}

/** `limits.cpu` requires a limit, `requests.cpu` and `cpu` require a request. */
export function states({ requests, limits }: Resources, name: string): boolean {
  if (name.startsWith(LIMITS)) return limits?.has(name.slice(LIMITS.length)) === true;
  return requests?.has(name.startsWith(REQUESTS) ? name.slice(REQUESTS.length) : name) === true;
}
