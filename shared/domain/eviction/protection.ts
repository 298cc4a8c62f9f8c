import type { Because } from '#shared/domain/model/because.ts';
import type { Owner, Pod } from '#shared/domain/pod/pod.ts';

/** On a pod from a file or an address on the node: where it is from. */
export const CONFIG_SOURCE = 'kubernetes.io/config.source';
/** On a mirror pod: the hash of the static pod's manifest. */
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
const SOURCE_API_SERVER = 'api';

/** From here on a priority is reserved for the system (`SystemCriticalPriority`). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Whether the kubelet takes the pod for one from a file or an address on the node: any source that is not exactly
 * `api`. The kubelet writes this annotation itself, over whatever the API server sent; in the API it is the tenant's.
 */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.annotations.get(CONFIG_SOURCE);
  return source !== undefined && source !== SOURCE_API_SERVER;
}

/** Whether the kubelet takes the pod for the API server's image of a static pod; an empty annotation counts. */
export function isMirrorPod(pod: Pod): boolean {
  return pod.annotations.has(CONFIG_MIRROR);
}

/**
 * Whether a pod read from the API server is the mirror of a static pod. Anyone may create a pod with the annotations,
 * so the node that runs the pod must be its controlling owner too, as NodeRestriction demands of a kubelet
 * (`admitPodCreate` in `plugin/pkg/admission/noderestriction`).
 */
export function isMirrorOfNode(pod: Pod): boolean {
  return isMirrorPod(pod) && pod.owners.some((owner) => isControllingNode(owner, pod.spec.nodeName));
}

function isControllingNode({ apiVersion, kind, name, isController }: Owner, nodeName: string | undefined): boolean {
  return apiVersion === 'v1' && kind === 'Node' && isController && name === nodeName;
}

/** Whether the pod's priority is the system's. The class name and the old `critical-pod` annotation mean nothing. */
export function hasCriticalPriority(pod: Pod): boolean {
  return (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the kubelet refuses to evict the pod (`IsCriticalPod` in `pkg/kubelet/types/pod_update.go`). */
export function isCriticalPod(pod: Pod): boolean {
  return criticalProtection(pod) !== undefined;
}

/** Why the kubelet refuses to evict the pod, given its own annotations; `undefined` if it does not. */
export function criticalProtection(pod: Pod): Because | undefined {
  if (isStaticPod(pod)) return protectedBecause('ProtectedStaticPod', 'is a static pod', {});
  if (isMirrorPod(pod)) return becauseOfMirror();
  return hasCriticalPriority(pod) ? becauseOfPriority(pod) : undefined;
}

export interface ProtectionRules {
  /** Namespaces that are never touched: kube-system, our own, and those labelled to be ignored. */
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority a pod's wish never to be evicted is honoured; above it no pod may ask. */
  readonly optOutCeiling: number;
  /** Whether the pod wishes never to be evicted. */
  readonly wantsToStay: (pod: Pod) => boolean;
}

/** Why a pod read from the API server must never be chosen, `undefined` if it may be. */
export function protectionOf(pod: Pod, rules: ProtectionRules): Because | undefined {
  if (isMirrorOfNode(pod)) return becauseOfMirror();
  if (hasCriticalPriority(pod)) return becauseOfPriority(pod);
  if (rules.protectedNamespaces.has(pod.namespace)) return becauseOfNamespace(pod);
  return isOptOutHonoured(pod, rules) ? becauseOfOptOut(pod, rules) : undefined;
}

/** A wish counts up to the ceiling, which keeps the important from hiding among the protected. */
function isOptOutHonoured(pod: Pod, rules: ProtectionRules): boolean {
  return rules.wantsToStay(pod) && (pod.spec.priority ?? 0) <= rules.optOutCeiling;
}

function becauseOfMirror(): Because {
  return protectedBecause('ProtectedMirrorPod', 'is the mirror of a static pod', {});
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
