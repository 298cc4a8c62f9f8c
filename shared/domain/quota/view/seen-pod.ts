import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import type { PriorityLevel } from '#shared/domain/quota/priority-quota.ts';

/** An existing pod, as far as quotas charge it. */
export interface SeenPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The resourceVersion of the object. */
  readonly revision: number;
  /** The generation of its spec; 0 if the API server does not set it. */
  readonly generation: number;
  /** What quota scopes match; `undefined` if it cannot be read, and then every quota counts the pod. */
  readonly level: PriorityLevel | undefined;
  /** By quota resource name; `undefined` if it cannot be read, and then the pod costs the full limit of a quota. */
  readonly amounts: Amounts | undefined;
}

/**
 * How much of the cluster's history is known, by resource versions, which rise with every change of a kind. A view that
 * has *reached* a revision includes every change up to it; what it *holds* may include changes up to another, usually
 * later, revision (docs/decisions/0006).
 */
export interface ViewRevision {
  readonly pods: number;
  readonly namespaces: number;
}

/** Before any change. */
export const NO_REVISION: ViewRevision = { pods: 0, namespaces: 0 };

/** Whether every change up to `other` is included. */
export function hasReached(reached: ViewRevision, other: ViewRevision): boolean {
  return reached.pods >= other.pods && reached.namespaces >= other.namespaces;
}
