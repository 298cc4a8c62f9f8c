import { isExtendedResource, isNativeResource } from '#shared/domain/quantity/resource-name.ts';

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
