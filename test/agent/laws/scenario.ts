/** A pod of an episode: what its owner declared, how it behaves, and which faults meet the agent that asks about it. */
export interface LawPod {
  readonly name: string;
  readonly namespace: string;
  readonly priority: number;
  /** 0: BestEffort. */
  readonly requestMiB: number;
  readonly isGuaranteed: boolean;
  /** It runs in spare room, and requests nothing of the node. */
  readonly isInSpareRoom?: boolean;
  readonly kind: 'ReplicaSet' | 'DaemonSet' | 'Static' | 'Bare';
  readonly wish: 'never' | 'last' | undefined;
  readonly graceSeconds: number;
  readonly startMiB: number;
  /** MiB a second from `growsFromMs` after its start until it uses `mostMiB`. */
  readonly growsMiB: number;
  readonly growsFromMs: number;
  readonly mostMiB: number;
  /** It falls back to `startMiB` whenever it has used `mostMiB` for a second, and grows again. */
  readonly isSawTooth?: boolean;
  /** From SIGTERM to its end, if its grace period lasts as long; infinite: it ignores the signal. */
  readonly shutdownMs: number;
  /** How long its processes outlive SIGKILL. */
  readonly hangsMs: number;
  readonly isMeasured: boolean;
  readonly fault: PodFault | undefined;
  readonly resize: Resize | undefined;
  /** Someone else deletes the pod at this time, with its own grace period. */
  readonly deletedAtMs: number | undefined;
  /** Whether its controller's replacement lands on this node again, unless a taint keeps it away. */
  readonly comesBack: boolean;
}

/** What the API server answers about this one pod. */
export type PodFault = 'budget' | 'twoBudgets' | 'getFails' | 'evictFails' | 'forbidden' | 'unreadable';

/** A change of the request in place; only `Done` changes what the kubelet has allocated. */
export interface Resize {
  readonly requestMiB: number;
  readonly state: 'Done' | 'Deferred' | 'Infeasible';
}

/** What the API server does to every call in a span of time. */
export interface ApiFault {
  readonly kind: 'throttled' | 'serverError' | 'timeout' | 'unreachable' | 'slow' | 'watchStalls';
  readonly fromMs: number;
  readonly toMs: number;
  readonly retryAfterSeconds: number | undefined;
}

/** The options of a NodePressurePolicy. */
export interface PolicyChoice {
  readonly mode: 'DryRun' | 'Enforce';
  readonly hardMiB: number;
  readonly softMiB: number | undefined;
  readonly softGraceSeconds: number;
  readonly reclaimMiB: number | undefined;
  readonly mostGraceSeconds: number;
  readonly ranking:
    'Kubernetes' | 'ShareOfRequest' | readonly ('exceedsRequests' | 'priority' | 'usageAboveRequests' | 'qos')[];
  readonly missingStats: 'Never' | 'Last' | 'First';
  readonly daemonSets: 'Last' | 'Rank';
  readonly concurrent: number;
  readonly perMinute: number;
  readonly perTenMinutes: number;
  readonly perNamespace: number;
  readonly perOwnerPerHour: number;
  readonly optOutCeiling: number;
  readonly optOut: 'WithinRequest' | 'Always';
  readonly withinRequest: boolean;
}

export interface KubeletChoice {
  readonly hardMiB: number;
  readonly softMiB: number | undefined;
  readonly softGraceSeconds: number;
  readonly mostGraceSeconds: number;
  /** When in its period of ten seconds it looks at the node. */
  readonly phaseMs: number;
}

/** Everything that an episode depends on: plain data, so that it can be shrunk and printed. */
export interface Scenario {
  readonly seed: number;
  readonly capacityMiB: number;
  /** Memory that no pod has, and how fast it grows. */
  readonly outsideMiB: number;
  readonly outsideGrowsMiB: number;
  readonly pods: readonly LawPod[];
  readonly policy: PolicyChoice;
  readonly kubelet: KubeletChoice;
  readonly api: readonly ApiFault[];
  /** Whether the scheduler process taints the node and keeps replacements away. */
  readonly isTainted: boolean;
  readonly lengthMs: number;
  /** Time between two passes of the agent near a threshold. */
  readonly nearMs: number;
}
