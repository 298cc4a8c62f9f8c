import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { type Termination, isExpected, type Stage } from './inflight-eviction.ts';

/** A pod that was asked to end, by whomever: since when, how long it may take, and whether its memory comes free already. */
export interface TerminatingPod extends Termination {
  /** The most that it was seen to use since it last fell. */
  readonly usedBytes: number | undefined;
  readonly fellAt: Instant | undefined;
}

/** Ending pods by UID. */
export type TerminatingPods = ReadonlyMap<string, TerminatingPod>;

const DEFAULT_GRACE_SECONDS = 30;
/** Less than this is how working sets breathe. */
const FALL_SHARE = 0.05;
/** A pod whose memory last fell longer ago than this is not falling any more. */
const FALLING_MS = 3000;

/** Brings what is known of ending pods up to date; the first grace counts, since the kubelet does not shorten a stop. */
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

/** Whether its memory was seen to come free a moment ago. */
export function isFalling(pod: TerminatingPod | undefined, now: Instant): boolean {
  return pod?.fellAt !== undefined && now - pod.fellAt <= FALLING_MS;
}

/** Whether what it uses counts as freed already: in the severe stage only what ends within seconds or falls. */
export function countsAsFreed(pod: TerminatingPod, stage: Stage, now: Instant): boolean {
  return isExpected(pod, stage, now) || (stage === 'severe' && isFalling(pod, now));
}
