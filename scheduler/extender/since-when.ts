import { putBounded } from '#shared/domain/base/memoize.ts';
import { type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import type { WaitedFor } from '#shared/domain/preemption/proposal/proposal.ts';
import { nodeOrNominated, podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { ObservePod } from '#scheduler/preemptions/preemption-loops.ts';

/** Beyond this number, the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Remembers how long a condition has held for a pod and a node: 0 the first time, then milliseconds. */
export function createSinceWhen(): WaitedFor {
  const since = new Map<string, Instant>();
  return (pod, node, now) => {
    const key = `${podKey(pod)} ${node}`;
    const first = since.get(key);
    if (first !== undefined) return Math.max(0, now - first);
    putBounded(since, MAX_REMEMBERED, [key, now]);
    return 0;
  };
}

/** Since when pods have been nominated to their nodes, as this process has seen it. */
export interface Nominations {
  /** Records a nomination. */
  readonly observe: ObservePod;
  /** A nomination that was not observed counts from the first question about it. */
  readonly idleFor: IdleFor;
}

/**
 * Remembers when each pod was first nominated to a node. Other changes of the pod, which its owner can make at any
 * time, do not reset the time; nor does a nomination elsewhere and back.
 */
export function createNominations({ now }: { readonly now: () => Instant }): Nominations {
  const nominatedFor = createSinceWhen();
  const isNominated = (pod: Pod): boolean => !isBound(pod) && nodeOrNominated(pod) !== '';
  return {
    observe: ({ pod }) => {
      if (isNominated(pod)) nominatedFor(pod, nodeOrNominated(pod), now());
    },
    idleFor: ({ pod }, at) => nominatedFor(pod, nodeOrNominated(pod), at),
  };
}
