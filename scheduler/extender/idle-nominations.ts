import type { Instant } from '#shared/domain/pod/pod.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { placeOf, podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { ObservePod } from '#scheduler/preemptions/seen-pod.ts';

/** Since when pods have been nominated to their nodes, as this process has seen it. */
export interface Nominations {
  /** Takes note of a nomination. */
  readonly observe: ObservePod;
  /** Begins with the first question for a nomination that was not seen. */
  readonly idleFor: IdleFor;
}

/** Of more, those are forgotten whose pods are gone or placed. */
const MOST_REMEMBERED = 1_000;

/**
 * Remembers when each pod was first nominated to a node. Neither another change of the pod, which its owner can make at
 * any time, nor a nomination elsewhere and back begins anew.
 */
export function createNominations({ now }: { readonly now: () => Instant }): Nominations {
  const since = new Map<string, { readonly pod: string; readonly at: Instant }>();
  const sinceOf = (pod: string, node: string, at: Instant): Instant => {
    const key = `${pod} ${node}`;
    const known = since.get(key);
    if (known === undefined) since.set(key, { pod, at });
    return known?.at ?? at;
  };
  return {
    observe: ({ pod }, snapshot) => {
      if ((pod.spec.nodeName ?? '') !== '' || placeOf(pod) === '') return;
      sinceOf(podKey(pod), placeOf(pod), now());
      if (since.size > MOST_REMEMBERED) forgetPlaced(since, snapshot);
    },
    idleFor: ({ pod }, at) => at - sinceOf(podKey(pod), placeOf(pod), at),
  };
}

function forgetPlaced(since: Map<string, { readonly pod: string }>, { placedPods }: ClusterSnapshot): void {
  for (const [key, { pod }] of since) {
    const known = placedPods.get(pod)?.pod;
    if (known === undefined || (known.spec.nodeName ?? '') !== '') since.delete(key);
  }
}
