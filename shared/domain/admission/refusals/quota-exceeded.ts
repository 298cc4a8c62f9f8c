import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/quantity/quantity.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { because } from '#shared/domain/admission/admission-code.ts';
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
  const { priorityClassName = '' } = pod.spec;
  const free = subtractQuantities(hard, used);
  const room = quantitySign(free) > 0 ? `at most ${readableQuantity(free)} would fit` : 'nothing left';
  const others = more.length === 0 ? [] : [`also exceeded: ${backquoted(more.map((excess) => excess.resource))}`];
  const text = [
    `quota \`${quota.name}\` ${quota.where}: \`${resource}\` is limited to ${readableQuantity(hard)}`,
    `used ${readableQuantity(used)}, requested ${readableQuantity(asked)} (priority class \`${priorityClassName}\`)`,
    room,
    ...others,
    ...quota.holdersOf(resource),
  ].join('; ');
  return because('QuotaExceeded', text, {
    quota: quota.name,
    quotaKind: quota.kind,
    namespace: pod.namespace,
    priorityClassName,
    resource,
    used: readableQuantity(used),
    asked: readableQuantity(asked),
    hard: readableQuantity(hard),
  });
}

function backquoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
