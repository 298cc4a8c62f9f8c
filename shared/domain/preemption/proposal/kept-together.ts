import type { Because } from '#shared/domain/model/because.ts';

/** The pods of a node. */
export interface PodsOfNode<Pod> {
  /** Those that kube-scheduler would preempt. */
  readonly proposed: readonly Pod[];
  /** All that may be preempted by other rules, the first to go first. */
  readonly others: () => readonly Pod[];
}

/** Which pods of a node are kept. All others may go together. */
export interface KeptPods<Pod> {
  /** False where the proposed pods may go together: then none of them is kept. */
  readonly keepsProposed: boolean;
  /** `undefined` for a pod that may go. */
  readonly whyKept: (pod: Pod) => Because | undefined;
}

/** Judges the pods of one node together. */
export interface KeepTogether<Pod> {
  (pods: PodsOfNode<Pod>): KeptPods<Pod>;
}
