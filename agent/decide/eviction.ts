import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import { gracePeriodSeconds, HARD_GRACE_SECONDS } from '#shared/domain/eviction/grace-period.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { Mode } from '#agent/mode.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import { figureFor, othersUse } from './figure-for.ts';
import type { InflightEviction, Stage } from './inflight-eviction.ts';
import type { Look } from './look.ts';
import { ownerOf } from './pod-owner.ts';
import type { Due } from './shortage.ts';

/** One pod that has to go now, and everything that has to be said about it. */
export interface Eviction {
  readonly pod: Pod;
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  /** At least 1: no eviction skips the pod's own ending (I5). */
  readonly graceSeconds: number;
  /** What was short, for the kubelet's sentence. */
  readonly threshold: Threshold;
  readonly observed: Observation | undefined;
  /** Of the pod, as it was ranked. */
  readonly usage: PodUsage | undefined;
  readonly because: Because;
  /** Whether the pod ends already and is asked to do so sooner. */
  readonly isShortening: boolean;
}

/** The eviction of a candidate, with the grace that policy and threshold leave it. */
export function evictionOf({ facts: { pod } }: Candidate, due: Due, look: Look, policy: AgentPolicy): Eviction {
  const wanted = gracePeriodSeconds(due.threshold, pod, policy.mostGraceSeconds);
  return {
    ...reasonOf(due),
    pod,
    graceSeconds: Math.max(1, wanted),
    usage: look.usage.get(pod.uid),
    isShortening: false,
  };
}

/** The same for a pod that ends already: once more, with the shortest grace. */
export function shorteningOf(pod: Pod, due: Due, look: Look): Eviction {
  const usage = look.usage.get(pod.uid);
  return { ...reasonOf(due), pod, graceSeconds: HARD_GRACE_SECONDS, usage, isShortening: true };
}

function reasonOf({ signal, stage, mode, threshold, observed, because }: Due) {
  return { signal, stage, mode, threshold, observed, because };
}

/** What is remembered of an eviction from the moment it is asked for. */
export function openEviction(eviction: Eviction, look: Look): InflightEviction {
  const { pod, signal, stage, mode, graceSeconds, threshold, observed, usage } = eviction;
  return {
    uid: pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    owner: ownerOf(pod),
    signal,
    stage,
    mode,
    phase: 'asking',
    requestedAt: look.now,
    graceSeconds,
    expected: figureFor(signal, usage) ?? 0,
    shortage: observed && { signal: threshold.signal, available: quantityNumber(observed.available) },
    othersUsed: othersUse(signal, look.usage, pod.uid),
    releasedAt: undefined,
    isInternalError: false,
    unshortened: undefined,
  };
}

/** The same for one that is asked for a second time. */
export function shortenEviction(
  inflight: InflightEviction,
  { stage, graceSeconds }: Eviction,
  look: Look,
): InflightEviction {
  const { requestedAt } = inflight;
  const unshortened = { requestedAt, graceSeconds: inflight.graceSeconds };
  return { ...inflight, stage, phase: 'asking', requestedAt: look.now, graceSeconds, unshortened };
}
