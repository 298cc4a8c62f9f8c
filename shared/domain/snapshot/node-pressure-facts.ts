import type { OwnerKey } from '#shared/domain/pod/owner-key.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

/** A node's NodePressure as decisions about preemption and placement see it. */
export interface NodePressureFacts {
  readonly node: string;
  /** When its agent last reported; `undefined` if never. */
  readonly observedAt: Instant | undefined;
  /** Whether the agent evicts pods; otherwise it only reports. */
  readonly isEnforced: boolean;
  /** The worst state of a signal for which pods are evicted; `undefined` where all are far from their thresholds. */
  readonly pressure: 'Soft' | 'Hard' | undefined;
  /** Pods, by UID, that use more than they request. */
  readonly overRequest: ReadonlySet<string>;
  /** Pods, by UID, whose eviction the API server has accepted and that have not ended. */
  readonly evicting: ReadonlySet<string>;
  readonly avoid: readonly AvoidedOwner[];
}

/** An owner whose pods should not be placed on the node for a while. */
export interface AvoidedOwner {
  readonly owner: OwnerKey;
  readonly until: Instant;
  /** Whether the node is forbidden; otherwise it is the last choice. */
  readonly isHard: boolean;
}
