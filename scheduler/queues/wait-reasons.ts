import { type Because, reason } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { whyWaiting } from '#shared/domain/queue/let-in.ts';
import { podAddress } from '#shared/domain/queue/queue-pod.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { withWayOut } from '#shared/decide/queues/rollouts.ts';

/** A pod that waits for its queue, or gave its share back. */
export interface WaitingSubject {
  readonly uid: string;
  /** `undefined` for a pod that gave its share back. */
  readonly since: Instant | undefined;
  /** Computed only when it is asked for, as the reason: thousands of pods wait, and each round looks at all of them. */
  readonly address: () => WaitingAddress;
  readonly why: () => Because;
}

export type WaitingAddress = ReturnType<typeof podAddress>;

/** A missing queue may be created within two seconds; after that, its pods are told that it does not exist. */
const EXPECTED_MS = 10_000;

export const SEEKS_ROOM = reason<object>('SeeksRoom', () => 'waits for room that other queues have to free');

/** All pods that wait, and why. `whyNoRoom` returns what was found for a pod that waits for room. */
export function* waitingSubjects(
  plan: QueuePlan,
  whyNoRoom: (uid: string) => Because | undefined,
  now: Instant,
): Generator<WaitingSubject> {
  for (const pod of plan.held) {
    const why = () => withWayOut(whyWaiting(plan.question, plan.decision, pod), plan.heldRollouts, pod);
    yield { uid: pod.uid, since: pod.waitingSince, address: () => podAddress(pod), why };
  }
  for (const pod of plan.seeking) {
    const why = () => whyNoRoom(pod.uid) ?? SEEKS_ROOM({});
    yield { uid: pod.uid, since: pod.waitingSince, address: () => podAddress(pod), why };
  }
  for (const { pod, because } of plan.returned)
    yield { uid: pod.uid, since: undefined, address: () => pod, why: () => because };
  for (const { pod, because, isExpected } of [...plan.homeless, ...plan.outOfGang]) {
    if (isExpected && now - pod.createdAt < EXPECTED_MS) continue;
    yield { uid: pod.uid, since: pod.createdAt, address: () => pod, why: () => because };
  }
}
