import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { isWithin } from './kept-places.ts';
import type { QueuedPod } from './queued-pod.ts';

/** How long the replacement of a disrupted pod goes first. */
const FIRST_FOR_MS = 60_000;
/** creationTimestamp has whole seconds. */
const PRECISION_MS = 1_000;
const MAX_OWNERS = 10_000;

interface LostPod {
  readonly pod: string;
  readonly requests: QueueAmounts;
  readonly at: Instant;
}

/**
 * The pods that owners have lost a short time ago for another reason than reclaim: by a drain, a preemption, an eviction, a
 * lost node. So many of their new pods, none larger than a lost one, go in before others of the same priority (S3-45).
 * Deleted pods are not among them.
 */
export class LostPods {
  readonly #byOwner = new Map<string, readonly LostPod[]>();
  readonly #reclaimed = new Map<string, true>();

  /** The owner has lost a pod. */
  lose(owner: string, { uid: pod, requests }: Pick<QueuedPod, 'uid' | 'requests'>, at: Instant): void {
    const before = this.#byOwner.get(owner) ?? [];
    if (this.#reclaimed.has(pod) || before.some((each) => each.pod === pod)) return;
    const recent = before.filter((each) => at - each.at <= FIRST_FOR_MS);
    putBounded(this.#byOwner, MAX_OWNERS, [owner, [...recent, { pod, requests, at }]]);
  }

  /** The pod made room for another queue: its replacement waits in its turn, or the two would go round in circles. */
  reclaimed(uid: string): void {
    putBounded(this.#reclaimed, MAX_OWNERS, [uid, true]);
    for (const [owner, losses] of this.#byOwner) {
      const others = losses.filter(({ pod }) => pod !== uid);
      if (others.length < losses.length) this.#byOwner.set(owner, others);
    }
  }

  /** Hands out, for one pass, who goes first: a new pod of an owner for each one that it has lost, and is no larger. */
  turns(now: Instant): (pod: Pick<QueuedPod, 'owner' | 'createdAt' | 'requests'>) => boolean {
    const left = new Map<string, LostPod[]>();
    for (const [owner, losses] of this.#byOwner) {
      const recent = losses.filter(({ at }) => now - at <= FIRST_FOR_MS);
      if (recent.length > 0) left.set(owner, recent);
    }
    if (left.size === 0) return () => false;
    return ({ owner, createdAt, requests }) => {
      const losses = left.get(owner ?? '') ?? [];
      const at = losses.findIndex((lost) => createdAt >= lost.at - PRECISION_MS && isWithin(requests, lost));
      if (at >= 0) losses.splice(at, 1);
      return at >= 0;
    };
  }
}
