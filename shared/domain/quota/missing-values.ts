import type { Container, Pod } from '#shared/domain/model/pod.ts';
import { hasPodLevelResources } from '#shared/domain/model/pod-requests.ts';
import { namesOfLimit, namesOfRequest } from './charged-names.ts';

/** Once a quota limits one of these, every container must state it. No other resource is demanded. */
const DEMANDED: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

/**
 * What a pod's containers leave unsaid although a quota limits it, `limits.cpu for: app,init; memory for: app`, or
 * `undefined`. Init containers are asked like containers; a pod with pod-level resources is not asked (oddity K6).
 * `pkg/quota/v1/evaluator/core/pods.go` Constraints.
 */
export function missingValues(pod: Pod, limited: Iterable<string>): string | undefined {
  if (hasPodLevelResources(pod)) return undefined;
  const containers = [...pod.spec.containers, ...pod.spec.initContainers];
  const demanded = [...limited].filter((name) => DEMANDED.has(name)).sort();
  const complaints = demanded.flatMap((name) => {
    const silent = containers.filter((container) => !states(container, name)).map((container) => container.name);
    return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent)].sort().join(',')}`];
  });
  return complaints.length === 0 ? undefined : complaints.join('; ');
}

function states({ resources }: Container, name: string): boolean {
  return (
    [...(resources.requests?.keys() ?? [])].some((resource) => namesOfRequest(resource).includes(name)) ||
    [...(resources.limits?.keys() ?? [])].some((resource) => namesOfLimit(resource).includes(name))
  );
}
