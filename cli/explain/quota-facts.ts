import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import { type Amounts, sortedNames, subtractAmounts } from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { compareQuantities, type Quantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { PriorityScope } from '#shared/domain/quota/priority-quota.ts';
import type { CountedQuota } from '#cli/cluster/counted-quota.ts';
import type { Metadata } from '#cli/output/answer.ts';

/** What a PriorityQuota limits, and who uses it. */
export interface QuotaFacts {
  readonly metadata: Metadata;
  /** The pods that it counts. */
  readonly scope: string;
  readonly resources: readonly ResourceFacts[];
}

export interface ResourceFacts {
  readonly resource: string;
  readonly hard: string;
  readonly used: string;
  readonly free: string;
  /** The largest first, five at most. */
  readonly namespaces: readonly { readonly namespace: string; readonly used: string }[];
}

const MOST_NAMESPACES = 5;

export function quotaFacts(quota: CountedQuota): QuotaFacts {
  const free = subtractAmounts(quota.hard, quota.used);
  return {
    metadata: { name: quota.name },
    scope: scopeText(quota.scope),
    resources: sortedNames(quota.hard).map((resource) => ({
      resource,
      hard: amountText(quota.hard, resource),
      used: amountText(quota.used, resource),
      free: amountText(free, resource),
      namespaces: largestNamespaces(quota, resource),
    })),
  };
}

function scopeText(scope: PriorityScope): string {
  if (scope.kind === 'range') return `priority ${scope.min} to ${scope.max}`;
  return `priority classes ${[...scope.names].sort().join(', ')}`;
}

function largestNamespaces({ byNamespace }: CountedQuota, resource: string): ResourceFacts['namespaces'] {
  const held = Array.from(byNamespace, ([namespace, used]) => ({ namespace, amount: amountOf(used, resource) }));
  return held
    .filter(({ amount }) => compareQuantities(amount, ZERO) > 0)
    .toSorted((a, b) => compareQuantities(b.amount, a.amount) || compareTexts(a.namespace, b.namespace))
    .slice(0, MOST_NAMESPACES)
    .map(({ namespace, amount }) => ({ namespace, used: formatQuantity(amount) }));
}

function amountOf(amounts: Amounts, resource: string): Quantity {
  return amounts.get(resource) ?? ZERO;
}

function amountText(amounts: Amounts, resource: string): string {
  return formatQuantity(amountOf(amounts, resource));
}
