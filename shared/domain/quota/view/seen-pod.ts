import type { Amounts } from '#shared/domain/quantity/quantity.ts';
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
  /** The facts that quota scopes match; `undefined` if they cannot be read; then every quota counts the pod. */
  readonly level: PriorityLevel | undefined;
  /** By quota resource name; `undefined` if it cannot be read, and then the pod costs the full limit of a quota. */
  readonly amounts: Amounts | undefined;
}

/**
 * How much of the cluster's history is known, by resource versions, which rise with every change of a kind. A view that
 * has *reached* a revision includes every change up to it; what it *holds* may include changes up to another, usually
 * later, revision (docs/contributing/decisions/quota-ledger.md).
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

/** A view of the pods: whether every namespace is in it, and the revision of the pods that it has reached. */
interface Reached {
  readonly isWhole: boolean;
  readonly position: number;
}

/**
 * The time up to which a view is proven complete, by the clock of this process. A view may lag by any time without
 * noticing, for example after the process was paused. So the API server is asked for its current revision, and once the
 * view has reached it, the view includes everything that had happened when the request was sent.
 */
export class ViewProof {
  #awaited: { readonly askedAt: number; readonly revision: number } | undefined;
  #provenAt = -Infinity;

  /** The monotonic time up to which nothing is missing. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Since when a proof is awaited; `undefined` if none is. */
  get awaitedSince(): number | undefined {
    return this.#awaited?.askedAt;
  }

  /** Records that the API server, asked at this time, answered with this revision of the pods. */
  await(askedAt: number, revision: number, view: Reached): void {
    this.#awaited = { askedAt, revision };
    this.update(view);
  }

  /** Updates the proof after the view has advanced. */
  update({ isWhole, position }: Reached): void {
    if (this.#awaited === undefined || !isWhole || position < this.#awaited.revision) return;
    this.#provenAt = Math.max(this.#provenAt, this.#awaited.askedAt);
    this.#awaited = undefined;
  }
}
