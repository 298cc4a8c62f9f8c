import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/quantity/quantity.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { readableQuantity } from './readable-quantity.ts';

/** A full quota, as a refusal describes it. */
export interface FullQuota {
  readonly kind: 'ResourceQuota' | 'PriorityQuota';
  readonly name: string;
  /** `in namespace …`, `over all its namespaces`. */
  readonly where: string;
  /** Clauses that name the holders of a resource; empty if they are not known. */
  readonly holdersOf: (resource: string) => readonly string[];
}

/**
 * Describes the first exceeded resource with quota, used and requested amounts and limit; the other resources are only
 * named.
 */
export function quotaExceeded(quota: FullQuota, pod: Pod, exceeded: readonly [Excess, ...Excess[]]): Because {
  const [{ resource, asked, used, hard }, ...more] = exceeded;
  const free = subtractQuantities(hard, used);
  const facts = {
    quota: quota.name,
    priorityClassName: pod.spec.priorityClassName ?? '',
    resource,
    used: readableQuantity(used),
    asked: readableQuantity(asked),
    hard: readableQuantity(hard),
  };
  const figures = {
    ...facts,
    where: quota.where,
    free: quantitySign(free) > 0 ? readableQuantity(free) : undefined,
    others: more.map((excess) => excess.resource),
    holders: quota.holdersOf(resource),
  };
  return reasonOf(MESSAGES.quotaExceeded, figures, { ...facts, quotaKind: quota.kind, namespace: pod.namespace });
}
