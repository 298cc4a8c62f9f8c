import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';

const CONFIG_SOURCE = 'kubernetes.io/config.source';
const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
const SOURCE_API_SERVER = 'api';

/** From here on a priority is reserved for the system (`SystemCriticalPriority`). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Whether the pod came from a file or an address on the node itself: any source that is not exactly `api`. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.annotations.get(CONFIG_SOURCE);
  return source !== undefined && source !== SOURCE_API_SERVER;
}

/** Whether the pod is the API server's image of a static pod; an empty annotation counts. */
export function isMirrorPod(pod: Pod): boolean {
  return pod.annotations.has(CONFIG_MIRROR);
}

/** Whether the pod's priority is the system's. The class name and the old `critical-pod` annotation mean nothing. */
export function hasCriticalPriority(pod: Pod): boolean {
  return (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the kubelet refuses to evict the pod (`IsCriticalPod` in `pkg/kubelet/types/pod_update.go`). */
export function isCriticalPod(pod: Pod): boolean {
  return criticalProtection(pod) !== undefined;
}

/** Why the kubelet refuses to evict the pod, `undefined` if it does not. */
export function criticalProtection(pod: Pod): Because | undefined {
  if (isStaticPod(pod)) return protectedBecause('ProtectedStaticPod', 'is a static pod', {});
  if (isMirrorPod(pod)) return protectedBecause('ProtectedMirrorPod', 'is the mirror of a static pod', {});
  return hasCriticalPriority(pod) ? becauseOfPriority(pod) : undefined;
}

export interface ProtectionRules {
  /** Namespaces that are never touched: kube-system, our own, and those labelled to be ignored. */
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority a pod's wish never to be evicted is honoured; above it nobody may ask. */
  readonly optOutCeiling: number;
  /** Whether the pod wishes never to be evicted. */
  readonly wantsToStay: (pod: Pod) => boolean;
}

/** Why a pod must never be chosen, `undefined` if it may be (design law 1). */
export function protectionOf(pod: Pod, rules: ProtectionRules): Because | undefined {
  const critical = criticalProtection(pod);
  if (critical !== undefined) return critical;
  if (rules.protectedNamespaces.has(pod.namespace)) return becauseOfNamespace(pod);
  return isOptOutHonoured(pod, rules) ? becauseOfOptOut(pod, rules) : undefined;
}

/** A wish counts up to the ceiling, which keeps the important from hiding among the protected. */
function isOptOutHonoured(pod: Pod, rules: ProtectionRules): boolean {
  return rules.wantsToStay(pod) && (pod.spec.priority ?? 0) <= rules.optOutCeiling;
}

function becauseOfPriority(pod: Pod): Because {
  const priority = pod.spec.priority ?? 0;
  return protectedBecause('ProtectedPriority', `has the system priority ${priority}`, { priority });
}

function becauseOfNamespace({ namespace }: Pod): Because {
  return protectedBecause('ProtectedNamespace', `is in the protected namespace ${namespace}`, { namespace });
}

function becauseOfOptOut(pod: Pod, { optOutCeiling }: ProtectionRules): Because {
  const facts = { priority: pod.spec.priority ?? 0, optOutCeiling };
  return protectedBecause('ProtectedOptOut', 'asked never to be evicted', facts);
}

function protectedBecause(code: string, text: string, facts: Because['facts']): Because {
  return { code, text: `the pod ${text}`, facts };
}
