import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { QueuedPod } from './queued-pod.ts';

/** How long the replacement of a disrupted pod goes first. */
const FIRST_FOR_MS = 60_000;
/** creationTimestamp has whole seconds. */
const PRECISION_MS = 1_000;
const MAX_OWNERS = 10_000;

interface LostPod {
  readonly pod: string;
  readonly at: Instant;
}

/**
 * The pods that owners have lost a short time ago for another reason than reclaim: by a drain, a preemption, an eviction, a
 * lost node. So many of their new pods go in before others of the same priority (S3-45). Deleted pods are not among them.
 */
export class LostPods {
  readonly #byOwner = new Map<string, readonly LostPod[]>();
  readonly #reclaimed = new Map<string, true>();

  /** The owner has lost a pod. */
  lose(owner: string, pod: string, at: Instant): void {
    const before = this.#byOwner.get(owner) ?? [];
    if (this.#reclaimed.has(pod) || before.some((each) => each.pod === pod)) return;
    const recent = before.filter((each) => at - each.at <= FIRST_FOR_MS);
    putBounded(this.#byOwner, MAX_OWNERS, [owner, [...recent, { pod, at }]]);
  }

  /** The pod made room for another queue: its replacement waits in its turn, or the two would go round in circles. */
  reclaimed(uid: string): void {
    putBounded(this.#reclaimed, MAX_OWNERS, [uid, true]);
    for (const [owner, losses] of this.#byOwner) {
      const others = losses.filter(({ pod }) => pod !== uid);
      if (others.length < losses.length) this.#byOwner.set(owner, others);
    }
  }

  /** Hands out, for one pass, who goes first: of the new pods of an owner as many as it has lost. */
  turns(now: Instant): (pod: Pick<QueuedPod, 'owner' | 'createdAt'>) => boolean {
    const used = new Map<string, number>();
    const isRecent = (losses: readonly LostPod[]): boolean => losses.some(({ at }) => now - at <= FIRST_FOR_MS);
    if (!Array.from(this.#byOwner.values()).some(isRecent)) return () => false;
    return ({ owner, createdAt }) => {
      if (owner === undefined) return false;
      const isReplaced = ({ at }: LostPod): boolean => now - at <= FIRST_FOR_MS && createdAt >= at - PRECISION_MS;
      const losses = this.#byOwner.get(owner)?.filter(isReplaced).length ?? 0;
      const taken = used.get(owner) ?? 0;
      if (taken >= losses) return false;
      used.set(owner, taken + 1);
      return true;
    };
  }
}
