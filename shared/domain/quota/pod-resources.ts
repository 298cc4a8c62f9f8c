import { isNativeResource } from '#shared/domain/model/resource-name.ts';

export const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

const NAMES: readonly string[] = [
  ...['count/pods', 'pods', 'cpu', 'memory', 'ephemeral-storage'],
  ...['requests.cpu', 'requests.memory', 'requests.ephemeral-storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
];

/**
 * Those of a quota's resource names that pods are charged for. A name that is both a hugepage and an extended
 * resource comes twice, and is printed twice. `pkg/quota/v1/evaluator/core/pods.go` MatchingResources.
 */
export function podResources(names: Iterable<string>): readonly string[] {
  return [...names].flatMap((name) => [
    ...(NAMES.includes(name) ? [name] : []),
    ...(isHugepages(name) ? [name] : []),
    ...(isExtendedInQuota(name) ? [name] : []),
  ]);
}

function isHugepages(name: string): boolean {
  return name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
}

function isExtendedInQuota(name: string): boolean {
  if (!name.startsWith('requests.')) return false;
  return !isNativeResource(name) || name.startsWith(`requests.${DEVICE_CLASS_PREFIX}`);
}
