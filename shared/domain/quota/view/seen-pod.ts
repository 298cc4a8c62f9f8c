import type { Amounts } from '#shared/domain/model/amounts.ts';
import type { PriorityLevel } from '#shared/domain/quota/priority-quota.ts';

/** A pod that exists, as far as quotas charge it. */
export interface SeenPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The resourceVersion of the object. */
  readonly revision: number;
  /** Of its spec; 0 where the API server does not number them. */
  readonly generation: number;
  /** What the scope of a quota looks at; `undefined` where that cannot be read, and then every quota counts the pod. */
  readonly level: PriorityLevel | undefined;
  /** By quota entry; `undefined` where that cannot be read, and then the pod costs as much as a quota limits. */
  readonly amounts: Amounts | undefined;
}

/**
 * How much of what happened in the cluster is known, by resource versions, which rise with every change of a kind. A view
 * that has *reached* a revision shows every change up to it; what it *holds* shows changes up to another one, as a rule
 * a later one. Docs: decisions/0006.
 */
export interface ViewRevision {
  readonly pods: number;
  readonly namespaces: number;
}

/** Before any change. */
export const NO_REVISION: ViewRevision = { pods: 0, namespaces: 0 };

/** Whether every change up to `other` is known too. */
export function hasReached(reached: ViewRevision, other: ViewRevision): boolean {
  return reached.pods >= other.pods && reached.namespaces >= other.namespaces;
}
