import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** Remembers since when each nomination is idle. A change of the pod is a sign of its scheduler, and begins anew. */
export function createIdleNominations(): IdleFor {
  const since = new WeakMap<PlacedPod, Instant>();
  return (nominated, now) => {
    const first = since.get(nominated) ?? now;
    since.set(nominated, first);
    return now - first;
  };
}
