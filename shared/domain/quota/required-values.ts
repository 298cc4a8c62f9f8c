import type { Container, Pod } from '#shared/domain/model/pod.ts';
import { hasPodLevelResources } from '#shared/domain/model/pod-requests.ts';
import { resourceCharge } from './charge.ts';

const REQUIRED: readonly string[] = [
  ...['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory'],
];

/**
 * What a quota over cpu or memory demands of every container, init containers included, and some do not state:
 * `must specify cpu for: a,b; memory for: a`. Pod-level resources lift the demand (oddity K6).
 * `pkg/quota/v1/evaluator/core/pods.go` Constraints.
 */
export function missingValues(limitedNames: readonly string[], pod: Pod): string | undefined {
  if (hasPodLevelResources(pod)) return undefined;
  const containers = [...pod.spec.containers, ...pod.spec.initContainers];
  const missing = REQUIRED.filter((name) => limitedNames.includes(name)).flatMap((name) => {
    const silent = containersWithout(name, containers);
    return silent.length === 0 ? [] : [`${name} for: ${silent.join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}

function containersWithout(name: string, containers: readonly Container[]): readonly string[] {
  const silent = containers.filter(({ resources }) => !resourceCharge(resources).has(name));
  return [...new Set(silent.map((container) => container.name))].sort();
}
