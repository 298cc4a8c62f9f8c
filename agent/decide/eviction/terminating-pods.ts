import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { type Termination, isExpected, type Pace } from './inflight-eviction.ts';

/** A terminating pod, whatever deleted it: since when, its grace period, and whether its memory is already falling. */
export interface TerminatingPod extends Termination {
  /** Highest usage since it last fell. */
  readonly usedBytes: number | undefined;
  readonly fellAt: Instant | undefined;
}

/** Terminating pods by UID. */
export type TerminatingPods = ReadonlyMap<string, TerminatingPod>;

const DEFAULT_GRACE_SECONDS = 30;
/** Smaller changes are normal for a working set. */
const FALL_SHARE = 0.05;
/** A pod whose memory last fell longer ago is no longer falling. */
const FALLING_MS = 3000;

/** Updates the terminating pods. The first grace period counts, since the kubelet does not shorten a termination. */
export function updateTerminatingPods(
  previous: TerminatingPods,
  terminating: readonly Pod[],
  usage: UsageByUid,
  now: Instant,
): TerminatingPods {
  if (terminating.length === 0 && previous.size === 0) return previous;
  return new Map(terminating.map((pod) => [pod.uid, noteOne(previous.get(pod.uid), pod, usage, now)]));
}

function noteOne(previous: TerminatingPod | undefined, pod: Pod, usage: UsageByUid, now: Instant): TerminatingPod {
  const { since, graceMs } = previous ?? { since: now, graceMs: graceOf(pod) };
  return { since, graceMs, ...noteFall(previous, usage.get(pod.uid)?.memory?.workingSetBytes, now) };
}

function graceOf({ deletion }: Pod): Instant {
  return (deletion?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}

type Fall = Pick<TerminatingPod, 'usedBytes' | 'fellAt'>;

function noteFall(previous: Fall | undefined, usedBytes: number | undefined, now: Instant): Fall {
  const before = previous?.usedBytes;
  const fellAt = previous?.fellAt;
  if (usedBytes === undefined) return { usedBytes: before, fellAt };
  if (before !== undefined && usedBytes <= before * (1 - FALL_SHARE)) return { usedBytes, fellAt: now };
  return { usedBytes: Math.max(before ?? 0, usedBytes), fellAt };
}

/** Whether its memory fell a moment ago. */
export function isFalling(pod: TerminatingPod | undefined, now: Instant): boolean {
  return pod?.fellAt !== undefined && now - pod.fellAt <= FALLING_MS;
}

/**
 * Whether its usage counts as freed: in the severe stage only if it terminates within seconds or its memory is falling.
 */
export function countsAsFreed(pod: TerminatingPod, pace: Pace, now: Instant): boolean {
  return isExpected(pod, pace, now) || (pace !== 'mild' && isFalling(pod, now));
}
