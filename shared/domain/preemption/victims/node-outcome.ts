import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';

/** What preemption could do on one node. */
export type NodeOutcome = Candidate | RejectedNode;

/** The incoming pod would fit once the victims are gone. */
export interface Candidate {
  readonly kind: 'candidate';
  readonly node: string;
  /** At least one, in order of importance. */
  readonly victims: readonly PlacedPod[];
  /** How many victims their disruption budgets would keep. */
  readonly budgetViolations: number;
  /** The priority of the most important victim. */
  readonly topPriority: number;
  /** The sum of all victims' priorities, each shifted above 0. */
  readonly prioritySum: number;
}

/** Preemption does not help on the node. */
export type RejectedNode = NotTried | NoLowerPods | StillRefused | OverBudget;

/** No removal of pods could help; without a refusal the pod's affinity names other nodes. */
export interface NotTried {
  readonly kind: 'notTried';
  readonly node: string;
  readonly refusal: Refusal | undefined;
}

/** No pod of the node may be preempted. */
export interface NoLowerPods {
  readonly kind: 'noLowerPods';
  readonly node: string;
}

/** The pod does not fit even with all lower pods removed. */
export interface StillRefused {
  readonly kind: 'stillRefused';
  readonly node: string;
  readonly refusal: Refusal;
  readonly removed: number;
}

/** Budgets are hard, and one would be broken. */
export interface OverBudget {
  readonly kind: 'overBudget';
  readonly node: string;
  readonly budgetViolations: number;
}
