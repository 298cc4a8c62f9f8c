import type { Instant } from '#shared/domain/pod/pod.ts';
import type { WaitedFor } from '#shared/domain/preemption/proposal/proposal.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';

/** Of more, the oldest are forgotten. */
const MOST_REMEMBERED = 10_000;

/** Remembers since when each preemptor has been put off on a node, so that it is put off there once. */
export function createWaits(): WaitedFor {
  const since = new Map<string, Instant>();
  return (preemptor, node, now) => {
    const key = `${podKey(preemptor)} ${node}`;
    const first = since.get(key);
    if (first !== undefined) return Math.max(0, now - first);
    const [oldest] = since.keys();
    if (since.size >= MOST_REMEMBERED && oldest !== undefined) since.delete(oldest);
    since.set(key, now);
    return 0;
  };
}
