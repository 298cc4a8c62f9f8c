import type { ConditionView } from './condition.ts';
import type { NodePolicyView } from './node-policies.ts';

/** What the page shows: plain JSON. Times are milliseconds since 1970, ratios lie between 0 and 1. */
export interface View {
  readonly at: number;
  /** By name. */
  readonly nodes: readonly NodeView[];
  /** Newest first. */
  readonly timeline: readonly TimelineEntry[];
  /** Highest first. */
  readonly classes: readonly ClassView[];
  readonly quotas: readonly QuotaView[];
  /** The tree from the top, children by name; empty where there are no queues. */
  readonly queues: readonly QueueView[];
  /** Newest first. */
  readonly preemptions: readonly PreemptionView[];
  /** By name. */
  readonly policies: readonly PolicyView[];
  /** The one that comes first stands first; the defaults last, where nodes are left to them. */
  readonly nodePolicies: readonly NodePolicyView[];
}

/**
 * The state of the signal that is nearest to its threshold; `Unknown` where nothing fresh is known, `NoAgent` for a node
 * of which no agent has ever reported.
 */
export type NodeState = 'Hard' | 'Soft' | 'Near' | 'Far' | 'Unknown' | 'NoAgent';

/** A node in one row. */
export interface NodeSummary {
  readonly name: string;
  readonly mode: string;
  /** By which the agent decides, as it reports; `default` without one, empty without a report. */
  readonly policy: string;
  readonly state: NodeState;
  /** Which signals have that state, unless it is `Far` or `Unknown`. */
  readonly signals: readonly string[];
  readonly observedAt: number | undefined;
  readonly usedRatio: number | undefined;
  readonly lineRatio: number | undefined;
  /** Available memory minus its threshold; negative below it. */
  readonly headroom: string | undefined;
  /** Of the signal that is nearest to its threshold, as a share of its capacity; negative below the threshold. */
  readonly headroomRatio: number | undefined;
  readonly next: string | undefined;
  /** Pods that may be evicted next or were evicted, as `namespace/name`, for filters. */
  readonly pods: readonly string[];
  /** Evictions in flight. */
  readonly evicting: number;
  /** Types of conditions that say that something is wrong. */
  readonly troubles: readonly string[];
}

export interface NodeView extends NodeSummary {
  readonly agent: string;
  readonly conditions: readonly ConditionView[];
  readonly readings: readonly SignalView[];
  readonly candidates: readonly NextView[];
  readonly evictions: readonly EvictionView[];
  /** Owners whose pods should not come back for a while. */
  readonly avoided: readonly AvoidView[];
}

export interface SignalView {
  readonly name: string;
  readonly state: string;
  readonly available: string;
  readonly capacity: string;
  /** Memory that processes can still allocate; the bar shows what the kubelet calls available. */
  readonly reclaimable: string | undefined;
  readonly threshold: string | undefined;
  /** `undefined` where available or capacity cannot be read as an amount. */
  readonly usedRatio: number | undefined;
  /** The used share at which the threshold is met. */
  readonly lineRatio: number | undefined;
}

export interface NextView {
  readonly rank: number;
  /** Empty where the viewer may not list the pods of its namespace. */
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
  | 'pressure'
  | 'problem';

export interface TimelineEntry {
  readonly at: number;
  readonly kind: TimelineKind;
  readonly isDryRun: boolean;
  /** `Pod team-a/web`, or `Node node-1`; only the kind where the viewer may not see more. */
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
  /** Of a PriorityQuota: its largest holders at the latest recount, only namespaces that the viewer may see. */
  readonly shares: readonly QuotaShareView[];
  /** Charges of pods that have not been seen yet, only of namespaces that the viewer may see; the newest first. */
  readonly reservations: readonly ReservationView[];
  /** What single replicas of the webhook may spend alone. */
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

/** One pod that was preempted, and the pod that it made room for. */
export interface PreemptionView {
  readonly at: number;
  /** `namespace/pod`; empty where the viewer may not list the pods of its namespace. */
  readonly victim: string;
  readonly priority: number;
  readonly className: string;
  readonly node: string;
  /** `namespace/pod`; empty where it is of another namespace than the victim, or the viewer may not see it. */
  readonly madeRoomFor: string;
  readonly preemptorPriority: number | undefined;
  readonly preemptorClassName: string;
  /** Where room was set aside, and where the pod was placed then. */
  readonly nominatedNode: string;
  readonly placedOn: string;
  /** The pod that replaced the victim, and its node. */
  readonly replacement: string;
  readonly why: string;
}

/** One PriorityPolicy. */
export interface ClassRuleView {
  readonly className: string;
  /** Kinds of owners; empty takes every owner. */
  readonly ownerKinds: readonly string[];
  /** A label selector; empty selects every pod. */
  readonly pods: string;
}

export interface PolicyView {
  readonly name: string;
  /** A label selector; empty selects every namespace. */
  readonly namespaces: string;
  /** Whom it concerns; empty means everyone. */
  readonly subjects: readonly string[];
  readonly defaultClass: string;
  /** The first that concerns a pod gives it its class. */
  readonly classRules: readonly ClassRuleView[];
  /** `undefined` allows every class. */
  readonly allowedClasses: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: string;
  readonly needQuota: readonly string[];
  readonly onViolation: string;
}

/** One queue in the tree. */
export interface QueueView {
  readonly name: string;
  /** Empty for a queue at the top. */
  readonly parent: string;
  /** 0 at the top. */
  readonly depth: number;
  readonly weight: number;
  readonly policy: string;
  readonly resources: readonly QueueResourceView[];
  readonly waitingPods: number;
  readonly oldestWaiting: number | undefined;
  readonly conditions: readonly ConditionView[];
  /** Pods that were evicted to make room for the queue, the newest first. */
  readonly evicted: readonly QueueEvictionView[];
}

/** Amounts of one resource type as texts, and each as a share of the longest bar among the queue and its siblings. */
export interface QueueResourceView {
  readonly name: string;
  readonly guaranteed: QueueAmountView | undefined;
  readonly deserved: QueueAmountView | undefined;
  readonly used: QueueAmountView | undefined;
  /** Requests of waiting pods. */
  readonly pending: QueueAmountView | undefined;
  /** Absent where there is no limit. */
  readonly max: QueueAmountView | undefined;
}

export interface QueueAmountView {
  readonly text: string;
  readonly ratio: number;
}

export interface QueueEvictionView {
  /** Empty where the viewer may not list the pods of its namespace. */
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
