/** What a scenario may use of what kube-scheduler knows, beside CPU and priorities. */
export const FEATURES = [
  'attachLimits',
  'volumeAffinity',
  'devices',
  'hostPorts',
  'spread',
  'antiAffinity',
  'overhead',
  'sidecars',
  'terminating',
  'budgets',
  'otherScheduler',
  'podSlots',
] as const;
export type Feature = (typeof FEATURES)[number];

/** Features that the extender's model of the cluster does not know. */
export const OUTSIDE_THE_MODEL: ReadonlySet<Feature> = new Set(['attachLimits', 'volumeAffinity', 'devices']);

export interface StageNode {
  readonly name: string;
  readonly zone: string;
  readonly cpu: number;
  /** Number of pods that fit. */
  readonly slots: number;
  /** Volumes of the CSI driver that can be attached; unlimited if absent. */
  readonly attachLimit?: number;
  readonly devices: number;
}

/** A rule that keeps pods of one app apart, or evenly spread, by a node label. */
export interface Topology {
  readonly app: string;
  readonly by: 'hostname' | 'zone';
}

export interface StagePod {
  readonly name: string;
  readonly app: string;
  readonly priority: number;
  readonly cpu: number;
  readonly graceSeconds: number;
  readonly hostPort?: number;
  /** A volume of the CSI driver; one that is reachable from one node only names the node. */
  readonly volume?: { readonly node?: string };
  readonly usesDevice?: boolean;
  readonly hasOverhead?: boolean;
  readonly sidecarCpu?: number;
  readonly antiAffinity?: Topology;
  readonly spread?: Topology;
}

export interface RunningPod extends StagePod {
  readonly node: string;
  /** Its class opted out of preemption. */
  readonly isProtected: boolean;
  /** Its deletion was requested before the first pod comes: how long it has, and takes; it takes forever if absent. */
  readonly leaving?: { readonly graceSeconds: number; readonly takesSeconds?: number };
}

export interface IncomingPod extends StagePod {
  /** Nodes in the order of its preference, so that no choice between nodes that fit is random. */
  readonly prefers: readonly string[];
  /** Asks the scheduler that never has the extender. */
  readonly isForOther: boolean;
  readonly neverPreempts: boolean;
}

export interface StageBudget {
  readonly app: string;
  readonly minAvailable: number;
}

/** A small cluster, what runs there, and the pods that come one after another. */
export interface StageCluster {
  readonly seed: number;
  readonly features: readonly Feature[];
  readonly nodes: readonly StageNode[];
  readonly running: readonly RunningPod[];
  readonly budgets: readonly StageBudget[];
  readonly incoming: readonly IncomingPod[];
  readonly hasProtected: boolean;
  readonly isOutsideTheModel: boolean;
}
