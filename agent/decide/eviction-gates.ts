import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import type { AgentState } from './agent-state.ts';
import { countsAsFreed, isFalling } from './eviction/terminating-pods.ts';
import { breakerGate } from './eviction/eviction-circuit-breaker.ts';
import { activePause, type EvictionState, longestPause, windowKey } from './eviction/eviction-state.ts';
import { evictionsOf, freeSlotsOnNode } from './eviction/eviction-windows.ts';
import { figureFor } from './snapshot/figure-for.ts';
import {
  type InflightEviction,
  isExpectedToEnd,
  isOutstanding,
  isUncounted,
  type Pace,
  type Stage,
} from './eviction/inflight-eviction.ts';
import type { NodeSnapshot } from './snapshot/node-snapshot.ts';
import type { PressureTrigger } from './shortage/pressure-trigger.ts';
import { stuckGate } from './eviction/stuck-evictions.ts';
import { REASONS } from '#agent/messages.ts';

/** After the kubelet evicted a pod, its relief is not measured yet; the severe stage has no time to wait for it. */
const STAND_BACK_MS: Readonly<Record<Stage, Instant>> = { mild: 30_000, severe: 2000 };

/** One trigger with the evictions of its mode; the input of every gate. */
export interface GateQuery {
  readonly trigger: Pick<PressureTrigger, 'signal' | 'stage'>;
  readonly evictions: EvictionState;
  readonly snapshot: Pick<NodeSnapshot, 'now'>;
  readonly limits: EvictionLimits;
  readonly pace: Pace;
}

function attemptGate({ trigger: { stage }, evictions, snapshot: { now } }: GateQuery): Because | undefined {
  const until = Math.min(evictions.nextAttemptAt, evictions.answeredAt + longestPause(stage));
  if (now >= until) return undefined;
  const seconds = Math.ceil((until - now) / 1000);
  return REASONS.backoff({ seconds }, { seconds });
}

/** A limit of the webhook that was reached, for evictions because of the same resource. */
function windowGate({ trigger: { signal, stage }, evictions, snapshot: { now } }: GateQuery): Because | undefined {
  return activePause(windowKey(resourceOf(signal)), evictions, { now, longestMs: longestPause(stage) })?.because;
}

function kubeletGate({ trigger, snapshot: { now } }: GateQuery, { kubeletActedAt }: AgentState): Because | undefined {
  const actedAt = kubeletActedAt.get(resourceOf(trigger.signal));
  const standBackMs = STAND_BACK_MS[trigger.stage];
  if (actedAt === undefined || now - actedAt > standBackMs) return undefined;
  return REASONS.kubeletActs({}, { windowSeconds: standBackMs / 1000 });
}

/** A stall rule depends on its evidence: a doubt about memory applies to memory.pressure too. */
function doubtGate(signal: PressureTrigger['signal'], { doubts }: NodeSnapshot): Because | undefined {
  return doubts.get(signal) ?? (signal === 'memory.pressure' ? doubts.get('memory.available') : undefined);
}

/** Evictions that occupy a slot: in the severe stage those for another resource do not. */
function outstanding({ trigger: { signal }, evictions, snapshot: { now }, pace }: GateQuery): number {
  const counted = evictions.inflight.filter((each) => pace === 'mild' || isFor(signal, each));
  return counted.filter((each) => isOutstanding(each, pace, now)).length;
}

/** Whether an eviction is for the resource that the signal measures. */
export function isFor(signal: PressureTrigger['signal'], eviction: InflightEviction): boolean {
  return resourceOf(eviction.signal) === resourceOf(signal);
}

function freeSlotsInWindows({ trigger: { signal }, evictions, snapshot: { now }, limits }: GateQuery): number {
  const asking = evictions.inflight.filter((each) => isUncounted(each) && isFor(signal, each)).length;
  return Math.max(0, freeSlotsOnNode(evictionsOf(evictions.past, resourceOf(signal)), limits, now) - asking);
}

/** How many pods may be evicted now. */
export function freeSlots(query: GateQuery): number {
  const free = Math.max(0, query.limits.concurrent - outstanding(query));
  return Math.min(free, freeSlotsInWindows(query));
}

function limitGate(query: GateQuery): Because | undefined {
  if (freeSlots(query) > 0) return undefined;
  const count = outstanding(query);
  const { concurrent, perMinute, perTenMinutes } = query.limits;
  if (count >= concurrent) return REASONS.outstanding({ count, concurrent }, { count, concurrent });
  return REASONS.nodeLimit({ perMinute, perTenMinutes }, { perMinute, perTenMinutes });
}

/**
 * What terminating pods will free, in the signal's unit. Of this agent's evictions, those for the same resource count
 * and any whose memory is falling; of pods that others terminate, those expected to end in time.
 */
export function alreadyFreed(
  { trigger: { signal }, evictions, pace }: GateQuery,
  state: AgentState,
  snapshot: NodeSnapshot,
): number {
  const isFreeing = (each: InflightEviction): boolean =>
    (isFor(signal, each) && isExpectedToEnd(each, pace, snapshot.now)) ||
    (pace !== 'mild' && isFalling(state.terminating.get(each.uid), snapshot.now));
  const leaving = new Set(evictions.inflight.filter(isFreeing).map(({ uid }) => uid));
  const own = new Set(evictions.inflight.map(({ uid }) => uid));
  for (const [uid, pod] of state.terminating)
    if (!own.has(uid) && countsAsFreed(pod, pace, snapshot.now)) leaving.add(uid);
  let sum = 0;
  for (const uid of leaving) sum += figureFor(signal, snapshot.usage.get(uid)) ?? 0;
  return sum;
}

/** Gates that are closed for shortening the grace period of a terminating pod; fewer than for a further eviction. */
export function shorteningGates(query: GateQuery, snapshot: NodeSnapshot): readonly Because[] {
  const { signal } = query.trigger;
  return [...snapshot.closedGates, doubtGate(signal, snapshot), attemptGate(query)].filter(
    (each) => each !== undefined,
  );
}

/** Gates that are closed for evicting a further pod now; empty if the eviction may proceed. */
export function closedGates(query: GateQuery, state: AgentState, snapshot: NodeSnapshot): readonly Because[] {
  const { signal } = query.trigger;
  return [
    ...snapshot.closedGates,
    doubtGate(signal, snapshot),
    breakerGate(state.breakers, resourceOf(signal), snapshot.now),
    kubeletGate(query, state),
    stuckGate(query.evictions, snapshot, query.trigger.stage),
    attemptGate(query),
    windowGate(query),
    limitGate(query),
  ].filter((each) => each !== undefined);
}
