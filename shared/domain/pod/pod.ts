import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;

/**
 * How far another clock may be ahead, in milliseconds; a time further in the future is not usable
 * (docs/contributing/decisions/claims-of-others.md).
 */
export const MAX_SKEW_MS = 60_000;

/** The first minor version of Kubernetes that computes a pod's requests and QoS class so. */
export type PodArithmetic = '1.36' | '1.37';

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
  /** How its requests and QoS class are computed; as 1.36 does if absent. */
  readonly arithmetic?: PodArithmetic;
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
  /** `Never` or `OnFailure`; `undefined` for `Always`, which most pods have. */
  readonly restartPolicy?: string | undefined;
  readonly podGroup?: string | undefined;
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

/** Whether the volume holds data of its node. */
export function isLocalVolume({ source }: Pick<Volume, 'source'>): boolean {
  return source === 'emptyDir' || source === 'hostPath';
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

const REFUSALS = /^(?:OutOf.+|NodeAffinity|NodePorts|NodeName|TaintToleration|UnexpectedAdmissionError)$/;

/**
 * Whether a kubelet gives this reason for refusing a pod: a scheduler bound it to a node that had changed, or whose room
 * another scheduler had used. `pkg/kubelet/lifecycle/predicate.go`.
 */
export function isKubeletRefusal(reason: string): boolean {
  return REFUSALS.test(reason);
}

/** Whether a scheduler marked the pod as a victim: `defaultpreemption/default_preemption.go` podTerminatingByPreemption. */
export function isPreempted({ status }: Pick<Pod, 'status'>): boolean {
  // The first condition of this type counts.
  const target = status.conditions.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

/** The controller that would recreate the pod; `undefined` if there is none. */
export function controllerOf({ owners }: Pick<Pod, 'owners'>): Owner | undefined {
  return owners.find(({ isController }) => isController);
}

/** The key of that controller; it has no `uid` if the owner reference has an empty one. */
export function ownerKeyOf(pod: Pick<Pod, 'namespace' | 'owners'>): OwnerKey | undefined {
  const { kind, name, uid } = controllerOf(pod) ?? {};
  if (kind === undefined || name === undefined) return undefined;
  return { namespace: pod.namespace, kind, name, uid: uid === '' ? undefined : uid };
}

/** The same as `namespace/Kind/name`. */
export function ownerOf(pod: Pod): string | undefined {
  const owner = ownerKeyOf(pod);
  return owner && ownerText(owner);
}

/** UIDs of the DaemonSets that exist, by `namespace/name`. */
export type DaemonSets = ReadonlyMap<string, string>;

/** Whether an existing DaemonSet created the pod for one node. */
export function isDaemonSetPod(pod: Pod, daemonSets: DaemonSets): boolean {
  const owner = claimedDaemonSet(pod);
  return owner !== undefined && daemonSets.get(`${pod.namespace}/${owner.name}`) === owner.uid;
}

/**
 * The DaemonSet that a pod names as its controller; `undefined` unless the pod is tied to one node as the DaemonSet
 * controller ties its pods. Anyone who may create pods can write both, so callers must check that the DaemonSet exists:
 * then its controller deletes a pod that it does not want on that node. Under another API group no controller would,
 * and the garbage collector ignores such a pod too.
 */
export function claimedDaemonSet(pod: Pod): Owner | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'DaemonSet' || owner.apiVersion !== 'apps/v1') return undefined;
  return isTiedToNode(pod) ? owner : undefined;
}

/** By name in each term of the required affinity. `pkg/controller/daemon/util/daemonset_util.go` ReplaceDaemonSetPodNodeNameNodeAffinity. */
function isTiedToNode({ spec }: Pod): boolean {
  const names = new Set(spec.scheduling.nodeAffinity?.terms.map(nodeNamedIn));
  const [name] = names;
  return names.size === 1 && name !== undefined && name === (spec.nodeName ?? name);
}

function nodeNamedIn({ matchFields }: NodeSelectorTerm): string | undefined {
  const [field, ...others] = matchFields;
  const isName = field?.key === 'metadata.name' && field.operator === 'In' && field.values.length === 1;
  return isName && others.length === 0 ? field.values[0] : undefined;
}

/** The controller of a pod. Without `uid`, every owner of that name is meant. */
export interface OwnerKey {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** Whether two keys name the same owner; UIDs are compared if both are known. */
export function isSameOwner(left: OwnerKey, right: OwnerKey): boolean {
  const isSameName = left.namespace === right.namespace && left.kind === right.kind && left.name === right.name;
  return isSameName && (left.uid === undefined || right.uid === undefined || left.uid === right.uid);
}

/** Identifies an owner; two owners of the same name differ if both UIDs are known. */
export function ownerId(owner: OwnerKey): string {
  return `${ownerText(owner)} ${owner.uid ?? ''}`;
}

/** An owner as messages and `status.evictions` name it: `namespace/Kind/name`. */
export function ownerText({ namespace, kind, name }: OwnerKey): string {
  return `${namespace}/${kind}/${name}`;
}
