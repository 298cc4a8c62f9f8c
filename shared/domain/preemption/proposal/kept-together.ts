import type { Because } from '#shared/domain/model/because.ts';

/** The pods of a node. */
export interface PodsOfNode<Pod> {
  /** Those that kube-scheduler would preempt. */
  readonly proposed: readonly Pod[];
  /** All that may be preempted by other rules, the first to go first. */
  readonly others: () => readonly Pod[];
}

/** Says why a pod of a node is kept; `undefined` for one that may go. All that may go may go together. */
export interface KeptPods<Pod> {
  (pod: Pod): Because | undefined;
}

/** Judges the pods of one node together. Where the proposed pods may go together, none of them is kept. */
export interface KeepTogether<Pod> {
  (pods: PodsOfNode<Pod>): KeptPods<Pod>;
}
