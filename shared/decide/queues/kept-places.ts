import { putBounded } from '#shared/domain/base/memoize.ts';
import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { isLive } from '#shared/domain/quota/charge.ts';
import type { QueuedPod } from './queued-pod.ts';
import { isDeletedByOwner, placeKeyOf } from './rollout.ts';

/*
 * StatefulSets, DaemonSets and Deployments that do not surge (`Recreate`, `maxSurge: 0`) delete a pod before they create
 * the one that replaces it. In a full queue the oldest waiting pod would take its share meanwhile, and in one above its
 * maximum the new pod would wait for ever: the rollout stops. So the share of a pod that was deleted stays for the next
 * pod of its owner, for a moment; that of a Deployment until its deleted pods are gone, since `Recreate` creates none
 * before. While a pod of the queue has gone in against another one, a deleted pod of a Deployment leaves none: its share
 * is taken already.
 */

/** The controllers create the next pod as soon as the last one is gone. */
const KEPT_FOR_MS = 10_000;
/** A Deployment whose deleted pods take longer to end leaves the share of the others to the pods that wait. */
const MAX_ENDING_MS = 60_000;
const MAX_OWNERS = 10_000;
/** The pods of one template request the same; of what is created by hand, no more requests are compared in one pass. */
const MAX_REFUSED = 100;

/** What a pod held that was deleted to be replaced. */
export interface KeptPlace extends Pick<QueuedPod, 'namespace' | 'label' | 'admitted' | 'requests'> {
  readonly leftAt: Instant;
  /** Whether its owner is a Deployment. */
  readonly mayBeSurge: boolean;
}

type ComingPod = Pick<QueuedPod, 'placeKey' | 'namespace' | 'requests'>;

/** The places of one pass. */
export interface PlacesInPass {
  /** Whether a new pod of the owner, in that queue, takes the place of one; never more than that one held. */
  readonly take: (pod: ComingPod, queue: string, isOfQueue: (place: KeptPlace) => boolean) => boolean;
  /** Those that no pod has taken. */
  readonly left: () => readonly KeptPlace[];
}

/** What else counts in a pass. */
export interface PlacesContext {
  readonly now: Instant;
  /** Pods that are being deleted. */
  readonly ending: () => Iterable<Pod>;
}

export class KeptPlaces {
  readonly #byOwner = new Map<string, readonly KeptPlace[]>();

  /** A pod is gone. */
  leave(pod: Pod, { namespace, label, admitted, requests, isBound, otherGates }: QueuedPod, now: Instant): void {
    const key = placeKeyOf(pod);
    if (key === undefined || !isDeletedByOwner(pod)) return;
    if (!isBound || otherGates !== undefined || !isLive(pod, now)) return;
    const mayBeSurge = controllerOf(pod)?.kind === 'ReplicaSet';
    const place = { namespace, label, admitted, requests, leftAt: now, mayBeSurge };
    const others = (this.#byOwner.get(key) ?? []).filter(({ leftAt }) => now - leftAt < MAX_ENDING_MS);
    putBounded(this.#byOwner, MAX_OWNERS, [key, [...others, place]]);
  }

  /** A pod of the owner was let in: it has its own share. */
  enter(key: string | undefined): void {
    const [, ...others] = this.#byOwner.get(key ?? '') ?? [];
    if (key !== undefined && others.length > 0) this.#byOwner.set(key, others);
    else if (key !== undefined) this.#byOwner.delete(key);
  }

  inPass(context: PlacesContext): PlacesInPass {
    const left = new Map<string, KeptPlace[]>();
    const isKept = this.#keeper(context);
    for (const [key, places] of this.#byOwner) {
      const kept = places.filter((place) => isKept(key, place, places.at(-1)));
      if (kept.length === 0) this.#byOwner.delete(key);
      else left.set(key, kept);
    }
    const refused = new Map<string, Set<QueueAmounts>>();
    const take: PlacesInPass['take'] = (pod, queue, isOfQueue) => {
      // Asked about every waiting pod: its key is made only where it matters.
      const places = left.size === 0 ? undefined : left.get(pod.placeKey ?? '');
      if (places === undefined) return false;
      const key = [pod.placeKey, pod.namespace, queue].join('/');
      const known = refused.get(key) ?? new Set<QueueAmounts>();
      // Thousands of pods that fit in none of thousands of places would otherwise hold up the pass.
      if (known.has(pod.requests) || known.size >= MAX_REFUSED) return false;
      const at = placeFor(pod, places, isOfQueue);
      if (at >= 0) places.splice(at, 1);
      else refused.set(key, known.add(pod.requests));
      return at >= 0;
    };
    return { take, left: () => [...left.values()].flat() };
  }

  /** `last` is the place that was left last. */
  #keeper({ now, ending }: PlacesContext): (key: string, place: KeptPlace, last?: KeptPlace) => boolean {
    let keys: ReadonlySet<string | undefined> | undefined;
    return (key, { leftAt, mayBeSurge }, last) => {
      if (now - leftAt < KEPT_FOR_MS) return true;
      if (!mayBeSurge || now - leftAt >= MAX_ENDING_MS) return false;
      if (last !== undefined && now - last.leftAt < KEPT_FOR_MS) return true;
      keys ??= new Set(
        Array.from(ending())
          .filter((pod) => isDeletedByOwner(pod) && isLive(pod, now))
          .map(placeKeyOf),
      );
      return keys.has(key);
    };
  }
}

function placeFor(
  { namespace, requests }: ComingPod,
  places: readonly KeptPlace[],
  isOfQueue: (place: KeptPlace) => boolean,
): number {
  return places.findIndex((place) => place.namespace === namespace && isWithin(requests, place) && isOfQueue(place));
}

/** Whether the requests are no more than what was held. */
export function isWithin(requests: QueueAmounts, { requests: held }: Pick<KeptPlace, 'requests'>): boolean {
  return requests === held || Array.from(requests).every(([type, amount]) => amount <= (held.get(type) ?? 0));
}
