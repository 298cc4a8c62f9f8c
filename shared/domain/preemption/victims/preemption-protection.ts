import { hasCriticalPriority, isMirrorOfNode } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/** The code of the protection that an owner asks for; all others are the cluster's own. */
export const OPTED_OUT = 'ProtectedOptOut';

export interface PreemptionProtection {
  /** Namespaces whose pods only a pod of system priority may preempt. */
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Whether the pod's class, or the pod where its class lets it, asks that it never be preempted. */
  readonly optedOut: (pod: Pod) => boolean;
}

/**
 * Why `preemptor` must not preempt `victim`; `undefined` where it may. An opt-out is an administrator's word, so it counts
 * whatever the priorities are, as in the webhook's gate. A namespace is no protection against a pod of system priority:
 * what the cluster itself needs must find room.
 */
export function preemptionProtection(
  victim: Pod,
  preemptor: Pod,
  { protectedNamespaces, optedOut }: PreemptionProtection,
): Because | undefined {
  if (isMirrorOfNode(victim)) return because(victim, 'ProtectedMirrorPod', 'is the mirror of a static pod');
  if (optedOut(victim)) return because(victim, OPTED_OUT, 'opted out of preemption');
  if (!protectedNamespaces.has(victim.namespace) || hasCriticalPriority(preemptor)) return undefined;
  return because(victim, 'ProtectedNamespace', 'is in a protected namespace');
}

function because({ namespace, name }: Pod, code: string, text: string): Because {
  return { code, text: `pod ${namespace}/${name} ${text}`, facts: { namespace, pod: name } };
}
