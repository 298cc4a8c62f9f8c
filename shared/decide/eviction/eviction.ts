import { type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountOf, isHard, isBelow, type Threshold } from '#shared/domain/pressure/threshold.ts';
import type { EvictionUrgency } from '#shared/domain/eviction/eviction-limits.ts';
import { resourceOf, type Observations } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { standingOf } from '#shared/domain/ranking/explain-ranking.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { type AgentPolicy, modeOf } from '#shared/api/node-pressure-policy/policy.ts';
import { figureFor, othersUse, decidingObservations } from './snapshot/deciding-figures.ts';
import type { AgentState } from './agent-state.ts';
import { allowsNoSecondEviction, secondsUntil } from './memory-trend.ts';
import { growthRateOf } from './usage-growth.ts';
import { isExpectedToPass } from './shortage/passing-shortages.ts';
import type { InflightEviction } from './history/inflight-eviction.ts';
import { type OptOutForce, optOutForce, lastingProtection } from './ranking/rank-node.ts';
import { type NodeSnapshot, type ObservedNode, isTerminating, type NamespaceState } from './snapshot/node-snapshot.ts';
import type { PressureTrigger } from './shortage/pressure-trigger.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import { ABORTS } from '#shared/decide/eviction/messages.ts';

/** One pod to evict now, with everything to report about it. */
export interface Eviction extends Omit<PressureTrigger, 'gap' | 'isPresent'> {
  readonly pod: Pod;
  /** At least 1: no eviction skips graceful termination. */
  readonly graceSeconds: number;
  /** Usage of the pod as it was ranked. */
  readonly usage: PodUsage | undefined;
  /** Usage against request, as it was ranked; absent for a pod that already terminates. */
  readonly standing?: Because;
  /** Whether the pod already terminates and is asked to do so sooner. */
  readonly isShortening: boolean;
  /** Whether the pod's opt-out counts for this eviction. */
  readonly optOut: OptOutForce;
  /** `undefined` in the mild stage. */
  readonly urgency: EvictionUrgency | undefined;
}

/** Inputs of an eviction other than candidate and trigger. */
export interface EvictionContext {
  readonly snapshot: NodeSnapshot;
  readonly policy: AgentPolicy;
  readonly state: Pick<AgentState, 'trend' | 'passing' | 'growth'>;
}

/**
 * The eviction of a candidate, with the grace period from policy and threshold, limited by the time the node has left.
 */
export function evictionOf(candidate: Candidate, trigger: PressureTrigger, context: EvictionContext): Eviction {
  const { pod } = candidate.facts;
  const wanted = gracePeriodSeconds(trigger.threshold, pod, context.policy.mostGraceSeconds);
  const graceSeconds = Math.max(1, Math.min(wanted, secondsLeft(trigger, pod, context)));
  const usage = context.snapshot.usage.get(pod.uid);
  const optOut = optOutForce(candidate, trigger.stage, context.policy);
  const urgency = urgencyOf(trigger, context.state);
  const standing = standingOf(candidate);
  return { ...reasonOf(trigger), pod, graceSeconds, usage, standing, isShortening: false, optOut, urgency };
}

/** The grace period below a hard threshold (`immediateEvictionGracePeriodSeconds`). */
export const HARD_GRACE_SECONDS = 1;

/** Seconds that a pod gets to stop: for a soft threshold its own grace period, up to the largest that is configured. */
export function gracePeriodSeconds(threshold: Threshold, pod: Pod, mostSeconds: number): number {
  if (isHard(threshold)) return HARD_GRACE_SECONDS;
  return Math.min(mostSeconds, pod.spec.terminationGracePeriodSeconds ?? mostSeconds);
}

/** How urgent an eviction is; the last chance is the one before memory is exhausted. */
export function urgencyOf(
  { stage, signal }: Pick<PressureTrigger, 'stage' | 'signal'>,
  { trend, passing }: Pick<AgentState, 'trend' | 'passing'>,
): EvictionUrgency | undefined {
  if (stage === 'mild') return undefined;
  const isLastChance = resourceOf(signal) === 'memory' && allowsNoSecondEviction(trend) && !isExpectedToPass(passing);
  return isLastChance ? 'LastChance' : 'Severe';
}

/** Pods in spare room are gone before the hard threshold also where memory runs out so much faster than at first. */
const PACE_MAY_GROW = 2;

/**
 * Seconds until the hard threshold is met at the present rate. The kubelet does not shorten a grace period that has
 * begun, so one granted in the mild stage must end before the severe one.
 */
function secondsLeft(trigger: PressureTrigger, { uid }: Pod, context: EvictionContext): number {
  const { signal, observed, onlySpare } = trigger;
  if (resourceOf(signal) !== 'memory' || observed === undefined) return Infinity;
  const {
    policy,
    snapshot,
    state: { trend, growth },
  } = context;
  const hard = policy.thresholds.filter((each) => each.signal === 'memory.available' && isHard(each));
  const floors = hard.map(({ value }) => quantityNumber(amountOf(value, observed)));
  const used = figureFor('memory.available', snapshot.usage.get(uid)) ?? 0;
  const floor = Math.max(0, ...floors);
  const ownRate = growthRateOf(growth, uid, { used, at: snapshot.now });
  if (onlySpare !== true) return secondsUntil(trend, floor, ownRate);
  // What the last one gave back hides for some seconds how fast memory runs out.
  return Math.floor(secondsUntil(trend, floor, Math.max(ownRate, trend?.fillRate ?? 0)) / PACE_MAY_GROW);
}

const AGAIN = { isShortening: true, optOut: 'honoured', urgency: 'Severe' } as const;

/** A second eviction of a terminating pod, with the shortest grace period. */
export function shorteningOf(pod: Pod, trigger: PressureTrigger, snapshot: NodeSnapshot): Eviction {
  const usage = snapshot.usage.get(pod.uid);
  return { ...reasonOf(trigger), pod, graceSeconds: HARD_GRACE_SECONDS, usage, ...AGAIN };
}

function reasonOf({ signal, stage, mode, threshold, observed, because }: PressureTrigger) {
  return { signal, stage, mode, threshold, observed, because };
}

/** The state of an eviction from the moment it is requested. */
export function openEviction(eviction: Eviction, snapshot: NodeSnapshot): InflightEviction {
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
    requestedAt: snapshot.now,
    graceSeconds,
    expected: figureFor(signal, usage) ?? 0,
    shortage: observed && { signal: threshold.signal, available: quantityNumber(observed.available) },
    othersUsed: othersUse(signal, snapshot.usage, pod.uid),
    releasedAt: undefined,
    isShortened: false,
  };
}

/** The state of an eviction that is requested a second time. */
export function shortenEviction(inflight: InflightEviction): InflightEviction {
  return { ...inflight, phase: 'asking', isShortened: true };
}

/** A pod and its namespace as just read from the API server. */
export type FreshPod =
  | { readonly kind: 'found'; readonly pod: Pod; readonly namespace: NamespaceState }
  | { readonly kind: 'gone' }
  /** The API server did not answer. */
  | {
      readonly kind: 'unknown';
      readonly message: string;
      /** Whether the API server answered, with an error about this pod or its namespace. */
      readonly isAnswered?: boolean;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The object cannot be decoded. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** The observations made right before a request. */
export interface Preflight {
  readonly fresh: FreshPod;
  readonly view: Pick<ObservedNode, 'readings' | 'reclaimable'>;
}

/**
 * The last check before acting: why the agent must not send an eviction that it has just decided, `undefined` if it
 * may. The decision used a watch and a measurement that may be outdated; the policy may have changed as well.
 */
export function abortReason(
  eviction: Eviction,
  { fresh, view }: Preflight,
  policy: AgentPolicy,
): AttemptOutcome | undefined {
  if (eviction.mode === 'Enforce' && modeOf(eviction, policy) !== 'Enforce') {
    return { kind: 'disarmed', message: ABORTS.noLongerEnforced(policy.name) };
  }
  return changeSince(eviction, fresh, policy) ?? recoverySince(eviction, decidingObservations(view, policy));
}

function changeSince(eviction: Eviction, fresh: FreshPod, policy: AgentPolicy): AttemptOutcome | undefined {
  const name = `${eviction.pod.namespace}/${eviction.pod.name}`;
  switch (fresh.kind) {
    case 'unknown': {
      const message = ABORTS.unread(name, fresh.message);
      const { isAnswered = false, retryAfterSeconds } = fresh;
      return { kind: 'unconfirmed', message, isAnswered, retryAfterSeconds };
    }
    case 'unreadable':
      return { kind: 'unreadable', message: ABORTS.unread(name, fresh.message) };
    case 'gone':
      return { kind: 'overtaken', message: ABORTS.gone(name) };
    case 'found': {
      const message = changeOf(eviction, fresh, policy);
      return message === undefined ? undefined : { kind: 'overtaken', message };
    }
  }
}

function recoverySince(eviction: Eviction, observations: Observations): AttemptOutcome | undefined {
  if (isStillShort(eviction, observations)) return undefined;
  return { kind: 'relieved', message: ABORTS.relieved(eviction.threshold.signal) };
}

type FoundPod = Extract<FreshPod, { kind: 'found' }>;

function changeOf(
  { pod: decided, isShortening, optOut }: Eviction,
  { pod, namespace }: FoundPod,
  policy: AgentPolicy,
): string | undefined {
  const name = `${decided.namespace}/${decided.name}`;
  if (pod.uid !== decided.uid) return ABORTS.otherUid(name, pod.uid, decided.uid);
  if (isTerminating(pod) && !isShortening) return ABORTS.terminating(name);
  const force = policy.protect.optOut === 'Always' ? 'honoured' : optOut;
  const protection = lastingProtection(pod, policy, new Map([[pod.namespace, namespace]]), force);
  return protection && ABORTS.nowProtected(name, protection.text);
}

/** Stalls have no amount, and their windows do not change within a moment. */
function isStillShort({ threshold, observed }: Eviction, observations: Observations): boolean {
  return observed === undefined || isBelow(threshold, observations, 'withMinimumReclaim');
}
