import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addAmounts, equalAmounts, filterAmounts, sortedNames } from '#shared/domain/model/amounts.ts';
import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { compareQuantities } from '#shared/domain/model/quantity.ts';
import { refusePod } from './quota-request.ts';
import type { ResourceQuota } from './resource-quota.ts';

/** A quota that concerns a pod, and what the request adds to it. */
export interface Bill {
  readonly quota: ResourceQuota;
  readonly added: Amounts;
}

/** The complete new usage of every quota whose usage changes, by name. */
export interface Settled {
  readonly kind: 'allowed';
  readonly newUsed: ReadonlyMap<string, Amounts>;
}

/**
 * Pays the bills quota by quota; the first that does not fit refuses all. Only what the request adds is compared with
 * the limits (oddity K7); usage that it does not touch stays as it is, stale entries included (oddity K10).
 */
export function settleBills(bills: readonly Bill[], pod: Pod): Settled | ApiRefusal {
  const newUsed = new Map<string, Amounts>();
  for (const { quota, added } of bills) {
    const requested = filterAmounts(added, (name) => quota.hard.has(name));
    const used = addAmounts(quota.used, requested);
    const exceeded = filterAmounts(quota.hard, (name, limit) => {
      const amount = requested.has(name) ? used.get(name) : undefined;
      return amount !== undefined && compareQuantities(amount, limit) > 0;
    });
    if (exceeded.size > 0) return refusePod(pod, exceededText(quota, requested, exceeded));
    if (!equalAmounts(used, quota.used)) newUsed.set(quota.name, used);
  }
  return { kind: 'allowed', newUsed };
}

/** Only the resources that exceed are shown, each in its own spelling (oddity K9). */
function exceededText({ name, used }: ResourceQuota, requested: Amounts, exceeded: Amounts): string {
  const show = (amounts: Amounts) => print(filterAmounts(amounts, (resource) => exceeded.has(resource)));
  return `exceeded quota: ${name}, requested: ${show(requested)}, used: ${show(used)}, limited: ${show(exceeded)}`;
}

function print(amounts: Amounts): string {
  const texts = new Map([...amounts].map(([name, amount]) => [name, `${name}=${formatQuantity(amount)}`]));
  return sortedNames(amounts)
    .map((name) => texts.get(name))
    .join(',');
}
