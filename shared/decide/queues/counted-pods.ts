import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';

/** The resource name that counts pods, as of a ResourceQuota and of nodes. */
const PODS = 'pods';
/** In thousandths. */
const ONE_POD = 1_000;

const counted = new WeakMap<QueueAmounts, QueueAmounts>();

/**
 * What a pod counts for the queues: its requests, and itself where some queue bounds or guarantees `pods`, or the
 * declared capacity does. Elsewhere each sum over all pods would have one type more for nothing. Nothing stays nothing.
 */
export function podCounter(
  { queues }: Pick<QueueTree, 'queues'>,
  declared?: QueueAmounts,
): (requests: QueueAmounts) => QueueAmounts {
  const isCounting =
    declared?.has(PODS) === true || queues.some(({ max, guaranteed }) => max.has(PODS) || guaranteed.has(PODS));
  return isCounting ? withPod : (requests) => requests;
}

/** The same object for the same requests, so that they are still counted together. */
function withPod(requests: QueueAmounts): QueueAmounts {
  if (requests === NO_QUEUE_AMOUNTS) return requests;
  const known = counted.get(requests) ?? new Map([...requests, [PODS, ONE_POD]]);
  counted.set(requests, known);
  return known;
}
