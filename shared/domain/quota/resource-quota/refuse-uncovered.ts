import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { filterAmounts, sortedNames } from '#shared/domain/quantity/amounts.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import type { Coverage } from './examine-quotas.ts';
import type { QuotaRefusal } from '#shared/domain/quota/refusal.ts';
import { fail, forbid } from '#shared/domain/quota/refusal.ts';
import type { LimitedResource, ScopeTerm } from './resource-quota.ts';
import { printTerm } from './scopes.ts';

/** What a pod may use only if a quota covers it. */
export interface ToCover {
  readonly resources: readonly string[];
  readonly scopes: readonly ScopeTerm[];
}

/**
 * Refuses what may be used only if a quota covers it: resources by every name that they are charged under (oddity K4),
 * then scopes, which any matching term of the same scope name covers (oddities K1, K3).
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
export function refuseUncovered(pod: Pod, toCover: ToCover, covered: Coverage): QuotaRefusal | undefined {
  const names = toCover.resources.filter((name) => !covered.resources.has(name));
  if (names.length > 0) {
    const resources = names.join(',');
    return forbid(pod, 'ResourcesNotCovered', `insufficient quota to consume: ${resources}`, { resources });
  }
  const terms = toCover.scopes.filter(({ scopeName }) => !covered.scopes.has(scopeName));
  if (terms.length === 0) return undefined;
  const scopes = `[${terms.map(printTerm).join(' ')}]`;
  return fail('ScopesNotCovered', `insufficient quota to match these scopes: ${scopes}`, { scopes });
}

/** What a pod costs, sorted, under names that contain a text of the entries for pods. limitedByDefault. */
export function namesToCover(cost: Amounts, limited: readonly LimitedResource[]): readonly string[] {
  const parts = limited.filter(isForPods).flatMap(({ matchContains }) => matchContains);
  return sortedNames(
    filterAmounts(cost, (name, amount) => quantitySign(amount) > 0 && parts.some((part) => name.includes(part))),
  );
}

function isForPods({ apiGroup, resource }: LimitedResource): boolean {
  return apiGroup === '' && resource === 'pods';
}
