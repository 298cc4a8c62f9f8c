import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { QuotaRequest } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import type { LimitedResource, ResourceQuota, ScopeTerm } from '#shared/domain/quota/resource-quota/resource-quota.ts';

type Texts = Readonly<Record<string, string>>;

export const NOW = Date.UTC(2026, 2, 1, 12);

/** Amounts from their texts. */
export function amounts(texts: Texts): Amounts {
  const parsed = Object.entries(texts).map(([name, text]) => {
    const result = parseQuantity(text);
    if (!result.ok) throw new Error(`cannot build amounts: ${name}: ${text}`);
    return [name, result.quantity] as const;
  });
  return new Map(parsed);
}

/** A quota with its enforced limits; what `used` leaves out has been counted as 0. */
export function quota(
  name: string,
  hard: Texts,
  { used = {}, scopes = [] }: { readonly used?: Texts | undefined; readonly scopes?: readonly ScopeTerm[] } = {},
): ResourceQuota {
  const nothing = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']));
  return { namespace: 'default', name, scopes, hard: amounts(hard), used: amounts({ ...nothing, ...used }) };
}

/** A scope term: `term('PriorityClass', 'In', 'high')`. */
export function term(scopeName: string, operator = 'Exists', ...values: readonly string[]): ScopeTerm {
  return { scopeName, operator, values };
}

/** What may be used only with a quota. */
export function limited(wish: Partial<LimitedResource>): LimitedResource {
  return { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [], ...wish };
}

/** A request to create a pod. */
export function creation(pod: Pod, wish: Partial<QuotaRequest> = {}): QuotaRequest {
  return { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: false, now: NOW, ...wish };
}

/** A request to resize a stored pod. */
export function resize(oldPod: Pod, pod: Pod): QuotaRequest {
  const stored = { ...oldPod, resourceVersion: '41' };
  return creation(pod, { operation: 'UPDATE', subresource: 'resize', oldPod: stored });
}
