import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/model/quantity.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { because } from './admission-code.ts';
import { readableQuantity } from './readable-quantity.ts';

/** The one resource that is told of, in words that name quota, used, asked and hard; the others are named after it. */
export function quotaExceeded(
  quota: { readonly name: string; readonly where: string },
  pod: Pod,
  exceeded: readonly [Excess, ...Excess[]],
  holders: readonly string[] = [],
): Because {
  const [{ resource, asked, used, hard }, ...more] = exceeded;
  const { priorityClassName = '' } = pod.spec;
  const free = subtractQuantities(hard, used);
  const room = quantitySign(free) > 0 ? `at most ${readableQuantity(free)} would fit` : 'nothing is left';
  const others = more.length === 0 ? '' : `; also exceeded: ${backquoted(more.map((excess) => excess.resource))}`;
  const held = holders.length === 0 ? '' : `; held most by ${backquoted(holders)}`;
  const text =
    `quota \`${quota.name}\` ${quota.where}: \`${resource}\` must be less than or equal to ${readableQuantity(hard)}; ` +
    `used ${readableQuantity(used)}, this pod asks ${readableQuantity(asked)} (priority class \`${priorityClassName}\`); ` +
    `${room}${others}${held}`;
  return because('QuotaExceeded', text, {
    quota: quota.name,
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
