import { putBounded } from '#shared/domain/base/memoize.ts';
import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { isLive } from '#shared/domain/quota/charge.ts';
import type { QueuedPod } from './queued-pod.ts';
import { isDeletedByOwner } from './rollout.ts';

/*
 * StatefulSets and DaemonSets delete a pod before they create the one that replaces it. In a full queue the oldest
 * waiting pod would take its share meanwhile, and in one above its maximum the new pod would wait for ever: the rollout
 * stops. So the share of a pod that was deleted stays for the next pod of its owner, for a moment.
 */

/** The controllers create the next pod as soon as the last one is gone. */
const KEPT_FOR_MS = 10_000;
const MAX_OWNERS = 10_000;
const DELETING_FIRST: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet']);

/** What a pod held that was deleted to be replaced. */
export interface KeptPlace extends Pick<QueuedPod, 'namespace' | 'label' | 'admitted' | 'requests'> {
  readonly until: Instant;
}

/** The places of one pass. */
export interface PlacesInPass {
  /** Whether a new pod of the owner takes the place of one; never more than that one held. */
  readonly take: (
    pod: Pick<QueuedPod, 'owner' | 'namespace' | 'requests'>,
    isOfQueue: (place: KeptPlace) => boolean,
  ) => boolean;
  /** Those that no pod has taken. */
  readonly left: () => readonly KeptPlace[];
}

export class KeptPlaces {
  readonly #byOwner = new Map<string, readonly KeptPlace[]>();

  /** A pod is gone. */
  leave(pod: Pod, { namespace, label, admitted, requests, isBound, otherGates }: QueuedPod, now: Instant): void {
    const owner = controllerOf(pod);
    if (owner === undefined || !DELETING_FIRST.has(owner.kind) || !isDeletedByOwner(pod)) return;
    if (!isBound || otherGates !== undefined || !isLive(pod, now)) return;
    const place = { namespace, label, admitted, requests, until: now + KEPT_FOR_MS };
    const others = (this.#byOwner.get(owner.uid) ?? []).filter(({ until }) => until > now);
    putBounded(this.#byOwner, MAX_OWNERS, [owner.uid, [...others, place]]);
  }

  /** A pod of the owner was let in: it has its own share. */
  enter(owner: string | undefined): void {
    const [, ...others] = this.#byOwner.get(owner ?? '') ?? [];
    if (owner !== undefined && others.length > 0) this.#byOwner.set(owner, others);
    else if (owner !== undefined) this.#byOwner.delete(owner);
  }

  inPass(now: Instant): PlacesInPass {
    const left = new Map<string, KeptPlace[]>();
    for (const [owner, places] of this.#byOwner) {
      const kept = places.filter(({ until }) => until > now);
      if (kept.length === 0) this.#byOwner.delete(owner);
      else left.set(owner, kept);
    }
    const take: PlacesInPass['take'] = ({ owner, namespace, requests }, isOfQueue) => {
      const places = left.get(owner ?? '') ?? [];
      const at = places.findIndex(
        (place) => place.namespace === namespace && isWithin(requests, place) && isOfQueue(place),
      );
      if (at >= 0) places.splice(at, 1);
      return at >= 0;
    };
    return { take, left: () => [...left.values()].flat() };
  }
}

function isWithin(requests: QueueAmounts, { requests: held }: KeptPlace): boolean {
  return requests === held || Array.from(requests).every(([type, amount]) => amount <= (held.get(type) ?? 0));
}
