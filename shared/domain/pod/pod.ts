import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/**
 * How far another clock may be ahead, in milliseconds; a time further in the future is not usable
 * (docs/decisions/0027-times-and-claims-of-others.md).
 */
export const MAX_SKEW_MS = 60_000;

/** A pod as the decisions see it: quantities parsed, times as numbers, absent fields `undefined`. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly generateName: string | undefined;
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly owners: readonly Owner[];
  readonly createdAt: Instant | undefined;
  readonly deletion: Deletion | undefined;
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly isController: boolean;
}

/** Set once deletion was accepted; a missing grace period keeps a pod charged forever (oddity U1). */
export interface Deletion {
  readonly at: Instant;
  readonly gracePeriodSeconds: number | undefined;
}

export interface PodSpec {
  readonly nodeName: string | undefined;
  readonly priorityClassName: string | undefined;
  readonly priority: number | undefined;
  readonly preemptionPolicy: string | undefined;
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  readonly overhead: Amounts;
  /** Pod-level resources; present but empty is not absent (oddity S1). */
  readonly resources: Resources | undefined;
  readonly activeDeadlineSeconds: number | undefined;
  readonly terminationGracePeriodSeconds: number | undefined;
  readonly volumes: readonly Volume[];
  /** Names of the dynamic resource claims that the pod refers to. */
  readonly resourceClaims: readonly string[];
  readonly hostNetwork: boolean;
  readonly scheduling: SchedulingRules;
}

export interface Container {
  readonly name: string;
  readonly resources: Resources;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy: string | undefined;
  readonly ports: readonly ContainerPort[];
}

/** `undefined` if the wire object lacks the map. */
export interface Resources {
  readonly requests: Amounts | undefined;
  readonly limits: Amounts | undefined;
}

export interface ContainerPort {
  readonly hostPort: number;
  readonly hostIP: string;
  readonly protocol: string;
}

export interface Volume {
  readonly name: string;
  /** The only key other than `name`: emptyDir, hostPath, configMap … */
  readonly source: string;
  readonly emptyDirMedium: string;
  readonly emptyDirSizeLimit: string | undefined;
}

export interface PodStatus {
  readonly phase: string | undefined;
  /** Why the pod is in its phase, such as that of a kubelet's refusal. */
  readonly reason?: string | undefined;
  readonly qosClass: string | undefined;
  readonly startTime: Instant | undefined;
  readonly nominatedNodeName: string | undefined;
  readonly conditions: readonly PodCondition[];
  readonly containers: readonly ContainerStatus[];
  readonly initContainers: readonly ContainerStatus[];
  /** Pod-level status of in-place resize. */
  readonly resources: Resources | undefined;
  readonly allocatedResources: Amounts | undefined;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  /** Why it ended most recently: `OOMKilled`, `Error` …; `undefined` if it never ended. */
  readonly endReason?: string | undefined;
  /** Counts whenever present, even if empty (oddity U2). */
  readonly resources: Resources | undefined;
  readonly allocatedResources: Amounts | undefined;
}

/** What decides where a pod may run. */
export interface SchedulingRules {
  readonly nodeSelector: ReadonlyMap<string, string>;
  readonly tolerations: readonly Toleration[];
  readonly nodeAffinity: NodeAffinity | undefined;
  readonly podAffinity: readonly PodAffinityTerm[];
  readonly podAntiAffinity: readonly PodAffinityTerm[];
  /** The terms of preferred affinity and anti-affinity. */
  readonly preferredPodTerms: readonly WeightedPodTerm[];
  /** Preferred node affinity. */
  readonly preferredNodeTerms: readonly WeightedNodeTerm[];
  readonly topologySpread: readonly TopologySpreadConstraint[];
}

export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

/** Required node affinity: terms are alternatives, requirements inside a term must all hold. */
export interface NodeAffinity {
  readonly terms: readonly NodeSelectorTerm[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions: readonly Requirement[];
  readonly matchFields: readonly Requirement[];
}

/** A node that the term matches is preferred by this weight, from 1 to 100. */
export interface WeightedNodeTerm {
  readonly weight: number;
  readonly term: NodeSelectorTerm;
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector: LabelSelector | undefined;
  readonly namespaces: readonly string[];
  readonly namespaceSelector: LabelSelector | undefined;
  readonly matchLabelKeys: readonly string[];
  readonly mismatchLabelKeys: readonly string[];
}

/** A preferred term; the weight is negative for anti-affinity. */
export interface WeightedPodTerm extends PodAffinityTerm {
  readonly weight: number;
}

export interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  readonly whenUnsatisfiable: string;
  readonly labelSelector: LabelSelector | undefined;
  readonly matchLabelKeys: readonly string[];
  readonly nodeAffinityPolicy: string | undefined;
  readonly nodeTaintsPolicy: string | undefined;
}

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

/** Whether all containers of the pod have terminated for good, so that it takes no room. */
export function hasEnded({ status }: Pick<Pod, 'status'>): boolean {
  return ENDED.includes(status.phase);
}

/** Whether the pod is on a node, or bound to one. */
export function isBound({ spec }: { readonly spec: Pick<PodSpec, 'nodeName'> }): boolean {
  return (spec.nodeName ?? '') !== '';
}

const REASONS = /^(?:OutOf.+|NodeAffinity|NodePorts|NodeName|TaintToleration|UnexpectedAdmissionError)$/;

/**
 * Whether this reason (in the pod's status and in the Event) means that a kubelet refused the pod: a scheduler bound it
 * to a node that had changed, or whose room another scheduler had used. `pkg/kubelet/lifecycle/predicate.go`.
 */
export function isKubeletRefusal(reason: string): boolean {
  return REASONS.test(reason);
}

/**
 * Whether a scheduler marked the pod as a victim of preemption. The first DisruptionTarget condition counts.
 * `plugins/defaultpreemption/default_preemption.go` podTerminatingByPreemption.
 */
export function isPreempted({ status }: Pick<Pod, 'status'>): boolean {
  const target = status.conditions.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}
