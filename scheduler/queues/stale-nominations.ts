import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { isWaiting } from '#shared/decide/queues/queued-pod.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

type Staying = Pick<QueuePlan, 'held' | 'homeless' | 'outOfGang' | 'returned'>;

interface Claims {
  readonly pods: Pick<QueuedPods, 'get'>;
  /** Whether a decision about the pod is being carried out. */
  readonly isBusy: (uid: string) => boolean;
}

/** A node stays set aside only for a pod that can get it, not for one that waits for its queue or finds no room. */
export function staleNominations(
  { held, homeless, outOfGang, returned }: Staying,
  roomless: readonly WaitingPod[],
  { pods, isBusy }: Claims,
): Steps<readonly string[]> {
  const staying = [...held, ...[...homeless, ...outOfGang, ...returned].map(({ pod }) => pod), ...roomless];
  return collectInSteps(staying, ({ uid }) => {
    const pod = pods.get(uid);
    if (pod?.unplaced?.status.nominatedNodeName === undefined || !isWaiting(pod)) return undefined;
    return isBusy(uid) ? undefined : uid;
  });
}
