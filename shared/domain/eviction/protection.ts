import type { Because } from '#shared/domain/base/because.ts';
import type { Owner, Pod } from '#shared/domain/pod/pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { isReady } from '#shared/domain/pod/pod-conditions.ts';
import { askBudgets } from './ask-budgets.ts';
import type { EvictionLimits } from './eviction-limits.ts';

/** Set on a pod from a file or URL on the node: its source. */
export const CONFIG_SOURCE = 'kubernetes.io/config.source';
/** Set on a mirror pod: the hash of the static pod's manifest. */
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
const SOURCE_API_SERVER = 'api';

/** Priorities from here on are reserved for the system (`SystemCriticalPriority`). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Whether the kubelet treats the pod as one from a file or URL on the node: any source that is not exactly `api`. The
 * kubelet writes this annotation itself and overwrites the value from the API server; in the API a tenant controls it.
 */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.annotations.get(CONFIG_SOURCE);
  return source !== undefined && source !== SOURCE_API_SERVER;
}

/** Whether the kubelet treats the pod as the mirror of a static pod; an empty annotation counts. */
export function isMirrorPod(pod: Pod): boolean {
  return pod.annotations.has(CONFIG_MIRROR);
}

/**
 * Whether a pod read from the API server is the mirror of a static pod. Anyone may create a pod with the annotations,
 * so the node that runs the pod must also be its controlling owner, as NodeRestriction requires of a kubelet
 * (`admitPodCreate` in `plugin/pkg/admission/noderestriction`).
 */
export function isMirrorOfNode(pod: Pod): boolean {
  return isMirrorPod(pod) && pod.owners.some((owner) => isControllingNode(owner, pod.spec.nodeName));
}

function isControllingNode({ apiVersion, kind, name, isController }: Owner, nodeName: string | undefined): boolean {
  return apiVersion === 'v1' && kind === 'Node' && isController && name === nodeName;
}

/** Whether the pod has a system priority. The class name and the old `critical-pod` annotation are ignored. */
export function hasCriticalPriority(pod: { readonly spec: Pick<Pod['spec'], 'priority'> }): boolean {
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
  /** Namespaces that are never touched: kube-system, Plimsoll's own, and those labelled to be ignored. */
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority a pod's opt-out from eviction is honoured; above it no pod may opt out. */
  readonly optOutCeiling: number;
  /** Whether the pod opted out of eviction. */
  readonly wantsToStay: (pod: Pod) => boolean;
}

/** Why a pod read from the API server must never be chosen, `undefined` if it may be. */
export function protectionOf(pod: Pod, rules: ProtectionRules): Because | undefined {
  if (isMirrorOfNode(pod)) return becauseOfMirror();
  if (hasCriticalPriority(pod)) return becauseOfPriority(pod);
  if (rules.protectedNamespaces.has(pod.namespace)) return becauseOfNamespace(pod);
  return isOptOutHonoured(pod, rules) ? becauseOfOptOut(pod, rules) : undefined;
}

/** An opt-out counts up to the ceiling, so that important pods cannot evade eviction. */
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

/** Default: the priority of an ordinary important class, above which no pod may opt out. */
export const DEFAULT_OPT_OUT_CEILING = 1_000_000;

/**
 * How far an opt-out goes. `WithinRequest`: in the severe stage it covers only what the pod requested, so that a pod
 * above its request may be evicted. `Always`: it applies in both stages.
 */
export type OptOut = 'WithinRequest' | 'Always';

export const DEFAULT_OPT_OUT: OptOut = 'WithinRequest';

/** The rules for our own evictions on a node. */
export interface Protection {
  /** The policy that applies to the node; without one the mode is the agent's own setting. */
  readonly policy: { readonly name: string; readonly mode: 'DryRun' | 'Enforce' } | undefined;
  readonly limits: EvictionLimits;
  /** Protected in addition to kube-system and our own namespaces. */
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
  readonly optOut: OptOut;
}

/**
 * The one PodDisruptionBudget for which the API server will certainly answer an eviction with 429; `undefined` if it
 * may allow the eviction, or answer something else.
 */
export function spentBudget(pod: Pod, budgets: readonly DisruptionBudget[]): DisruptionBudget | undefined {
  const covering = budgets.filter((each) => covers(each, pod));
  if (!isReady(pod) && covering.some(({ allowsUnready }) => allowsUnready === undefined)) return undefined;
  const answer = askBudgets(pod, covering);
  return answer.kind === 'Refused' && answer.why === 'Spent' ? answer.budgets[0] : undefined;
}

/** An empty selector selects every pod of the namespace here. */
function covers({ namespace, selector }: DisruptionBudget, pod: Pod): boolean {
  return namespace === pod.namespace && prepareSelector(selector).matches(pod.labels);
}

/** Facts about the pods of a node. */
export interface PodKinds {
  readonly optedOut: (pod: Pod) => boolean;
  readonly isDaemonSetPod: (pod: Pod) => boolean;
}

/**
 * Whether a node holds only pods that opted out of preemption, pods of DaemonSets and mirrors of static pods. A pod of a
 * DaemonSet can run on no other node, so there it may preempt those that opted out. Mechanism S2-29.
 */
export function isLastResort(podsOfNode: readonly Pod[], { optedOut, isDaemonSetPod }: PodKinds): boolean {
  return podsOfNode.every((pod) => isMirrorOfNode(pod) || optedOut(pod) || isDaemonSetPod(pod));
}
