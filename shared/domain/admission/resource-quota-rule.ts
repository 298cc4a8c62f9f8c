import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { quantitySign, subtractQuantities } from '#shared/domain/model/quantity.ts';
import { checkQuotas } from '#shared/domain/quota/check-quotas.ts';
import type { Excess, QuotaRefusal } from '#shared/domain/quota/refusal.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota.ts';
import { because } from './admission-code.ts';
import type { PodRequest } from './pod-request.ts';
import { readableQuantity } from './readable-quantity.ts';

/**
 * A pod for which a quota of its class has no room: the ResourceQuota plugin's verdict, which comes after us, told in
 * a way that helps. Quotas without a PriorityClass scope are left to the plugin.
 */
export function breaksResourceQuotaRule(
  { pod }: PodRequest,
  quotas: readonly ResourceQuota[],
  now: Instant,
): Because | undefined {
  const ofClass = quotas.filter(({ scopes }) => scopes.some(({ scopeName }) => scopeName === 'PriorityClass'));
  if (ofClass.length === 0) return undefined;
  const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: true, now };
  const verdict = checkQuotas(request, ofClass, []);
  if (verdict.kind !== 'refused') return undefined;
  const [first] = verdict.exceeded;
  return first === undefined
    ? because('QuotaUnusable', verdict.message, verdict.because.facts)
    : explain(pod, verdict, first);
}

/** Names the quota, what it is full of, what is asked and what would still fit. */
function explain(pod: Pod, { because: reason, exceeded }: QuotaRefusal, first: Excess): Because {
  const { resource, asked, used, hard } = first;
  const quota = String(reason.facts['quota']);
  const { priorityClassName = '' } = pod.spec;
  const free = subtractQuantities(hard, used);
  const room = quantitySign(free) > 0 ? `at most ${readableQuantity(free)} would fit` : 'nothing is left';
  const others =
    exceeded.length === 1
      ? ''
      : `; also exceeded: ${exceeded
          .slice(1)
          .map((excess) => `\`${excess.resource}\``)
          .join(', ')}`;
  const text =
    `quota \`${quota}\` in namespace \`${pod.namespace}\`: \`${resource}\` must be less than or equal to ${readableQuantity(hard)}; ` +
    `used ${readableQuantity(used)}, this pod asks ${readableQuantity(asked)} (priority class \`${priorityClassName}\`); ${room}${others}`;
  return because('QuotaExceeded', text, {
    quota,
    namespace: pod.namespace,
    priorityClassName,
    resource,
    used: readableQuantity(used),
    asked: readableQuantity(asked),
    hard: readableQuantity(hard),
  });
}
