import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** Why one filter keeps a pod off a node. */
export interface Refusal {
  /** The scheduler plugin that says so. */
  readonly filter: string;
  /** The texts that Kubernetes counts and prints. */
  readonly reasons: readonly string[];
  /** False where removing pods from the node cannot help (`UnschedulableAndUnresolvable`). */
  readonly isResolvable: boolean;
}

/** A filter that looks at the node alone, prepared for one incoming pod. */
export type NodeFilter = (entry: NodeEntry) => Refusal | undefined;

/** A filter whose answer depends on the other pods of a node, prepared for one incoming pod; `undefined` where it has nothing to check. */
export interface PodAwareFilter {
  /** Starts a trial on a node with all of its present pods. */
  readonly open: (entry: NodeEntry) => FilterState;
}

/** What one filter counts during a trial while pods are taken off a node and put back. */
export interface FilterState {
  readonly add: (placed: PlacedPod) => void;
  readonly remove: (placed: PlacedPod) => void;
  readonly refusal: () => Refusal | undefined;
}
