import type { Instant, Pod } from './pod.ts';

type WithStatus = Pick<Pod, 'status'>;

/** Whether a condition of the pod is True. */
export function hasCondition({ status }: WithStatus, name: string): boolean {
  return status.conditions.some((each) => each.type === name && each.status === 'True');
}

/** Whether the pod is Ready, in whatever phase it is. */
export function isReady(pod: WithStatus): boolean {
  return hasCondition(pod, 'Ready');
}

/** Whether it goes, or went, by an eviction or a preemption, not by a deletion. */
export function isDisrupted(pod: WithStatus): boolean {
  return hasCondition(pod, 'DisruptionTarget');
}

/** When its deletion was requested: the deletionTimestamp is when the grace period ends. */
export function deletedAt({ deletion }: Pick<Pod, 'deletion'>): Instant | undefined {
  return deletion && deletion.at - (deletion.gracePeriodSeconds ?? 0) * 1_000;
}
