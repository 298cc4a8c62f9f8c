import { putBounded } from '#shared/domain/base/memoize.ts';
import { controllerOf, hasEnded, type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ShownPod } from '#scheduler/preemptions/preemption-loops.ts';
import { type GonePod, isRemovedPod, removedAt } from './watch-removals.ts';

const MAX_OWNERS = 10_000;

/**
 * When a pod of each owner was removed last, as far as the watch of this process has shown it since its start: the
 * extender and the leader of the queues run without the record of disruptions (S3-8).
 */
export class OwnerDisruptions {
  readonly #at = new Map<string, Instant>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** By the owner's UID. */
  at(owner: string | undefined): Instant | undefined {
    return owner === undefined ? undefined : this.#at.get(owner);
  }

  observePod({ pod, raw, previous }: ShownPod): void {
    if (!isRemovedPod(pod, raw)) return;
    if (previous === undefined) {
      // One that failed before it was first seen is no news.
      if (!hasEnded(pod)) this.#note(pod, removedAt(pod, this.#clock.now()));
    } else if (isStaying(previous.pod)) this.#note(pod, this.#clock.now());
  }

  observeGone({ placed }: Pick<GonePod, 'placed'>): void {
    if (placed !== undefined && isBound(placed.pod) && isStaying(placed.pod)) this.#note(placed.pod, this.#clock.now());
  }

  #note(pod: Pod, at: Instant): void {
    const owner = controllerOf(pod)?.uid;
    if (owner !== undefined) putBounded(this.#at, MAX_OWNERS, [owner, at]);
  }
}

function isStaying(pod: Pod): boolean {
  return pod.deletion === undefined && !hasEnded(pod);
}
