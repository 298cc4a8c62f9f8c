import { byName } from '#shared/domain/model/compare-texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { compareQuantities, quantitySign, ZERO } from '#shared/domain/quantity/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import { listSome } from '#shared/domain/admission/messages/list-some.ts';
import { readableQuantity } from './readable-quantity.ts';

/**
 * The pods that use most of a resource: `` `a` (2Gi), `b` (1Gi) and 3 more ``; empty if none is known. `isCounted` says
 * which of the known pods the quota counts.
 */
export function describePodHolders(
  { pods, isPartial }: KnownPods,
  isCounted: (pod: Pod) => boolean,
  resource: string,
  now: Instant,
): string {
  const holders = pods
    .filter(isCounted)
    .map((pod) => ({ name: pod.name, amount: charge(pod, now).get(resource) ?? ZERO }))
    .filter(({ amount }) => quantitySign(amount) > 0)
    .sort((a, b) => compareQuantities(b.amount, a.amount) || byName(a, b));
  if (holders.length === 0) return '';
  return listSome(
    holders.map(({ name, amount }) => `\`${name}\` (${readableQuantity(amount)})`),
    isPartial,
  );
}
