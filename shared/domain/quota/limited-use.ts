import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { quantitySign } from '#shared/domain/model/quantity.ts';
import { podResources } from './pod-resources.ts';
import type { LimitedResource, ResourceQuota, ScopeTerm } from './resource-quota.ts';
import { matchingScopes } from './scopes.ts';

/**
 * The scopes whose use needs a quota, from all entries, also those for other resources (oddity K4). `undefined` if a
 * term cannot be evaluated, which switches the whole check off (oddity K2).
 * apiserver `plugin/resourcequota/controller.go` getMatchedLimitedScopes.
 */
export function limitedScopes(limited: readonly LimitedResource[], pod: Pod): readonly ScopeTerm[] | undefined {
  const found = matchingScopes(
    limited.flatMap((entry) => entry.matchScopes),
    pod,
  );
  return found.kind === 'fault' ? undefined : found.terms;
}

/** The charged names whose use needs a quota: those that contain a configured text (oddity K4). limitedByDefault. */
export function limitedNames(limited: readonly LimitedResource[], charge: Amounts): readonly string[] {
  const texts = limited.filter(isForPods).flatMap((entry) => entry.matchContains);
  return [...charge]
    .filter(([name, amount]) => quantitySign(amount) > 0 && texts.some((text) => name.includes(text)))
    .map(([name]) => name);
}

function isForPods({ apiGroup, resource }: LimitedResource): boolean {
  return apiGroup === '' && resource === 'pods';
}

/** Those of the names that no matching quota lists, sorted. */
export function uncoveredNames(names: readonly string[], quotas: readonly ResourceQuota[]): readonly string[] {
  const covered = new Set(quotas.flatMap((quota) => podResources(quota.hard.keys())));
  return names.filter((name) => !covered.has(name)).sort();
}

/** Those of the scopes of which no quota has a matching term of the same name, whatever its operator (oddity K3). */
export function uncoveredScopes(inUse: readonly ScopeTerm[], matched: readonly ScopeTerm[]): readonly ScopeTerm[] {
  return inUse.filter(({ scopeName }) => !matched.some((term) => term.scopeName === scopeName));
}
