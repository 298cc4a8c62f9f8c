/** Why one filter keeps a pod off a node. */
export interface Refusal {
  /** The scheduler plugin that says so. */
  readonly filter: string;
  /** The texts that Kubernetes counts and prints. */
  readonly reasons: readonly string[];
  /** False where removing pods from the node cannot help (`UnschedulableAndUnresolvable`). */
  readonly isResolvable: boolean;
}
