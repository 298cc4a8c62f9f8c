import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import { describePodHolders } from './pod-holders.ts';
import { quotaExceeded } from './quota-exceeded.ts';

/** The holders of a PriorityQuota, as far as they are known. */
export interface QuotaHolders {
  /** The namespaces that use most of the first exceeded resource, largest first. */
  readonly namespaces: readonly string[];
  readonly knownPods: KnownPods;
  readonly now: Instant;
}

/**
 * The refusal of a pod for which a PriorityQuota has no room; `undefined` if nothing is exceeded. Only the names of
 * other namespaces are shown: pods in other namespaces are not disclosed.
 */
export function priorityQuotaExceeded(
  quota: PriorityQuota,
  pod: Pod,
  [first, ...more]: readonly Excess[],
  holders: QuotaHolders,
): AdmissionDecision | undefined {
  if (first === undefined) return undefined;
  const { name } = quota;
  const holdersOf = (resource: string) => [
    ...ifAny(holders.namespaces.map((namespace) => `\`${namespace}\``).join(', '), PHRASES.largestNamespaces),
    ...ifAny(podHolders(quota, pod.namespace, holders, resource), (pods) => PHRASES.largestPodsIn(pod.namespace, pods)),
  ];
  const full = { kind: 'PriorityQuota', name, where: 'over all its namespaces', holdersOf } as const;
  return refuse(MESSAGES.quotaExceeded.status, quotaExceeded(full, pod, [first, ...more]));
}

function podHolders({ scope }: PriorityQuota, own: string, { knownPods, now }: QuotaHolders, resource: string): string {
  return describePodHolders(knownPods, (pod) => pod.namespace === own && countsPod(scope, pod), resource, now);
}

function ifAny(names: string, clause: (names: string) => string): readonly string[] {
  return names === '' ? [] : [clause(names)];
}
