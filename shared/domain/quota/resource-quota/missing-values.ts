import type { Pod, Resources } from '#shared/domain/pod/pod.ts';
import { hasPodLevelResources } from '#shared/domain/pod/pod-requests.ts';

const REQUESTS = 'requests.';
const LIMITS = 'limits.';

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
