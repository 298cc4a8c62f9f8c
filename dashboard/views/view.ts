import type { ConditionView } from './condition.ts';
import type { SpareView } from './load.ts';
import type { NodePolicyView } from './node-policies.ts';

/** The data of the page as plain JSON. Times are milliseconds since 1970, ratios are between 0 and 1. */
export interface View {
  readonly at: number;
  /** Sorted by name. */
  readonly nodes: readonly NodeView[];
  /** Newest first. */
  readonly timeline: readonly TimelineEntry[];
  /** Highest first. */
  readonly classes: readonly ClassView[];
  readonly quotas: readonly QuotaView[];
  /** The tree from the root, children by name; empty if there are no queues. */
  readonly queues: readonly QueueView[];
  /** Newest first. */
  readonly preemptions: readonly PreemptionView[];
  /** Sorted by name. */
  readonly policies: readonly PolicyView[];
  /** In order of precedence; the defaults come last, if any nodes use them. */
  readonly nodePolicies: readonly NodePolicyView[];
}

/**
 * The state of the signal closest to its threshold. `Unknown` without fresh data, `NoAgent` if no agent has ever
 * reported for the node.
 */
export type NodeState = 'Hard' | 'Soft' | 'Near' | 'Far' | 'Unknown' | 'NoAgent';

/** A node in one row. */
export interface NodeSummary {
  readonly name: string;
  readonly mode: string;
  /** The policy that the agent applies, according to its report; `default` without one, empty without a report. */
  readonly policy: string;
  readonly state: NodeState;
  /** The signals in that state, unless it is `Far` or `Unknown`. */
  readonly signals: readonly string[];
  readonly observedAt: number | undefined;
  readonly usedRatio: number | undefined;
  readonly lineRatio: number | undefined;
  /** Available memory minus its threshold; negative below it. */
  readonly headroom: string | undefined;
  /** For the signal closest to its threshold, as a share of its capacity; negative below the threshold. */
  readonly headroomRatio: number | undefined;
  readonly next: string | undefined;
  /** Pods that were evicted or may be evicted next, as `namespace/name`, for filters. */
  readonly pods: readonly string[];
  /** Evictions in flight. */
  readonly evicting: number;
  /** Types of the conditions that report a problem. */
  readonly troubles: readonly string[];
  /** `undefined` unless the agent measures spare room and its report is fresh. */
  readonly spare: SpareView | undefined;
}

export interface NodeView extends NodeSummary {
  readonly agent: string;
  readonly conditions: readonly ConditionView[];
  readonly readings: readonly SignalView[];
  readonly candidates: readonly NextView[];
  readonly evictions: readonly EvictionView[];
  /** Owners whose pods should stay away for a while. */
  readonly avoided: readonly AvoidView[];
}

export interface SignalView {
  readonly name: string;
  readonly state: string;
  readonly available: string;
  readonly capacity: string;
  /** Memory that processes can still allocate. The bar shows the kubelet's available memory. */
  readonly reclaimable: string | undefined;
  readonly threshold: string | undefined;
  /** `undefined` if available or capacity is not an amount. */
  readonly usedRatio: number | undefined;
  /** The used share at which the threshold is met. */
  readonly lineRatio: number | undefined;
}

export interface NextView {
  readonly rank: number;
  /** Empty if the viewer may not list the pods of its namespace. */
  readonly pod: string;
  readonly priority: number | undefined;
  readonly usage: string | undefined;
  readonly request: string | undefined;
  readonly why: string;
}

export interface EvictionView {
  readonly pod: string;
  readonly signal: string;
  readonly stage: string;
  readonly mode: string;
  readonly outcome: string;
  readonly requestedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly why: string;
}

export interface AvoidView {
  readonly owner: string;
  readonly until: number;
  readonly cause: string;
  readonly isHard: boolean;
}

export type TimelineKind =
  | 'eviction'
  | 'preemption'
  | 'oom'
  | 'rescheduling'
  | 'reclaim'
  | 'drain'
  | 'taint'
  | 'deletion'
  | 'node-lost'
  | 'removal'
  | 'refusal'
  | 'pressure'
  | 'problem';

/** Whether pods were removed. */
export function isRemoval(kind: TimelineKind): boolean {
  return kind !== 'pressure' && kind !== 'problem' && kind !== 'refusal';
}

export interface TimelineEntry {
  readonly at: number;
  readonly kind: TimelineKind;
  readonly isDryRun: boolean;
  /** `Pod team-a/web`, or `Node node-1`; only the kind if the viewer may not see more. */
  readonly about: string;
  readonly namespace: string;
  readonly node: string;
  readonly reason: string;
  readonly why: string;
  readonly from: string;
  readonly count: number;
}

export interface ClassView {
  readonly name: string;
  readonly value: number;
  readonly isDefault: boolean;
  readonly preempts: boolean;
  readonly optedOut: boolean;
  readonly description: string;
}

export interface QuotaView {
  readonly kind: 'PriorityQuota' | 'ResourceQuota';
  readonly name: string;
  /** Empty for a PriorityQuota. */
  readonly namespace: string;
  /** Names of classes, or a range of priorities. */
  readonly scope: string;
  readonly resources: readonly QuotaResourceView[];
  /** For a PriorityQuota: its largest holders at the latest recount, limited to namespaces that the viewer may see. */
  readonly shares: readonly QuotaShareView[];
  /** Charges of pods that were not observed yet, limited to namespaces that the viewer may see; newest first. */
  readonly reservations: readonly ReservationView[];
  /** The parts that single replicas of the webhook may spend alone. */
  readonly slices: readonly SliceView[];
}

/** Amounts are written as `2 cpu, 4Gi memory`. */
export interface QuotaShareView {
  readonly namespace: string;
  readonly amounts: string;
}

export interface ReservationView {
  /** `namespace/pod`. */
  readonly pod: string;
  readonly amounts: string;
  readonly admittedAt: number | undefined;
}

export interface SliceView {
  readonly holder: string;
  readonly amounts: string;
}

/** A preempted pod, and the pod that it made room for. */
export interface PreemptionView {
  readonly at: number;
  /** `namespace/pod`; empty if the viewer may not list the pods of its namespace. */
  readonly victim: string;
  readonly priority: number;
  readonly className: string;
  readonly node: string;
  /** `namespace/pod`; empty if it is in another namespace than the victim, or the viewer may not see it. */
  readonly madeRoomFor: string;
  readonly preemptorPriority: number | undefined;
  readonly preemptorClassName: string;
  /** The node on which room was set aside, and the node on which the pod was placed. */
  readonly nominatedNode: string;
  readonly placedOn: string;
  /** The replacement of the victim, and its node. */
  readonly replacement: string;
  readonly why: string;
}

export interface ClassRuleView {
  readonly className: string;
  /** Kinds of owners; empty matches every owner. */
  readonly ownerKinds: readonly string[];
  /** A label selector; empty selects every pod. */
  readonly pods: string;
}

/** One PriorityPolicy. */
export interface PolicyView {
  readonly name: string;
  /** A label selector; empty selects every namespace. */
  readonly namespaces: string;
  /** The users it applies to; empty means all users. */
  readonly subjects: readonly string[];
  readonly defaultClass: string;
  /** The first entry that matches a pod sets its class. */
  readonly classRules: readonly ClassRuleView[];
  /** `undefined` allows every class. */
  readonly allowedClasses: readonly string[] | undefined;
  readonly preemption: string;
  /** What else it requires of pods, each as in `up to priority 1,000`. */
  readonly limits: readonly string[];
  readonly onViolation: string;
}

/** One queue in the tree. */
export interface QueueView {
  readonly name: string;
  /** Empty for a queue at the root. */
  readonly parent: string;
  /** 0 at the root. */
  readonly depth: number;
  readonly weight: number;
  readonly policy: string;
  /** `Disabled`, `DryRun` or `Enforce` of the queue root; empty for all others. */
  readonly reclaim: string;
  readonly resources: readonly QueueResourceView[];
  readonly waitingPods: number;
  readonly oldestWaiting: number | undefined;
  readonly conditions: readonly ConditionView[];
  /** Pods that were evicted to make room for the queue, newest first. */
  readonly evicted: readonly QueueEvictionView[];
}

/** Amounts of one resource as text, and each as a share of the longest bar among the queue and its siblings. */
export interface QueueResourceView {
  readonly name: string;
  readonly guaranteed: QueueAmountView | undefined;
  readonly deserved: QueueAmountView | undefined;
  readonly used: QueueAmountView | undefined;
  /** Requests of waiting pods. */
  readonly pending: QueueAmountView | undefined;
  /** Absent without a limit. */
  readonly max: QueueAmountView | undefined;
}

export interface QueueAmountView {
  readonly text: string;
  readonly ratio: number;
}

export interface QueueEvictionView {
  /** Empty if the viewer may not list the pods of its namespace. */
  readonly pod: string;
  readonly node: string;
  readonly at: number;
  readonly why: string;
}

export interface QuotaResourceView {
  readonly name: string;
  readonly used: string;
  readonly hard: string;
  readonly usedRatio: number | undefined;
}
