import { FOREIGN_EVICTION_IN_PROGRESS } from '#shared/kube/api-names.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { type Instant, type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Shortage } from './shortage/pressure-trigger.ts';
import type { RuleActivations } from './shortage/rule-activation.ts';
import { type FigureComparison, NOT_COMPARED } from './snapshot/deciding-figures.ts';
import { type MetStalls, NO_STARTS, type StallStartsByMode } from './shortage/advance-stalls.ts';
import { NO_THRESHOLDS, type ThresholdState } from './shortage/advance-thresholds.ts';
import {
  type TerminatingPods,
  type EvictionsByMode,
  NO_EVICTIONS,
  updateTerminatingPods,
  type EvictionState,
  type Pause,
  recentEvictions,
} from './history/eviction-state.ts';
import type { Trend } from './memory-trend.ts';
import { type KubeletLead, NO_LEAD } from './shortage/kubelet-lead.ts';
import { NO_PASSING, type PassingShortages } from './shortage/passing-shortages.ts';
import { type GrowthWindows, NO_GROWTH } from './usage-growth.ts';
import { type CircuitBreakers, NO_BREAKERS, awaitRelief } from './history/eviction-circuit-breaker.ts';
import { type InflightEviction, reconcileInflight } from './history/inflight-eviction.ts';
import {
  type ObservedPods,
  isBeingEvicted,
  isTerminating,
  type KubeletEviction,
  type PodsOnNode,
} from './snapshot/node-snapshot.ts';

/**
 * What the agent keeps from one pass to the next. All times are monotonic milliseconds. Losing it restarts grace
 * periods and windows but causes no wrong eviction: evictions in flight are read from the pods themselves.
 */
export interface AgentState extends ThresholdState {
  readonly stalls: MetStalls;
  readonly stallStarts: StallStartsByMode;
  /** Which rules may act, and which were already met when they came into force. */
  readonly activations: RuleActivations;
  readonly evictions: EvictionsByMode;
  readonly terminating: TerminatingPods;
  /** The most urgent shortage. */
  readonly shortage: Shortage | undefined;
  readonly breakers: CircuitBreakers;
  readonly trend: Trend | undefined;
  /** Shortages that ended by themselves. */
  readonly passing: PassingShortages;
  readonly kubeletLead: KubeletLead;
  /** What pods and node used in the past, so that the pod that causes a shortage is known. */
  readonly growth: GrowthWindows;
  /** How the kubelet's memory figures compare with the reclaimable memory. */
  readonly figures: FigureComparison;
  /** Since when no running pod has had statistics. */
  readonly unmeasuredSince: Instant | undefined;
  /** Pods that the kubelet evicted, and when that was last observed for each resource. */
  readonly kubeletVictims: ReadonlySet<string>;
  readonly kubeletActedAt: ReadonlyMap<StarvedResource, Instant>;
}

export const FIRST_STATE: AgentState = {
  ...NO_THRESHOLDS,
  stalls: new Map(),
  stallStarts: NO_STARTS,
  activations: undefined,
  evictions: NO_EVICTIONS,
  terminating: new Map(),
  shortage: undefined,
  breakers: NO_BREAKERS,
  trend: undefined,
  growth: NO_GROWTH,
  passing: NO_PASSING,
  kubeletLead: NO_LEAD,
  figures: NOT_COMPARED,
  unmeasuredSince: undefined,
  kubeletVictims: new Set(),
  kubeletActedAt: new Map(),
};

const DEFAULT_GRACE_SECONDS = 30;
/** Attempts are counted until a pod has had no attempt for this long. */
const PAUSE_MEMORY_MS = 600_000;

/** Reconciles the state with the pods as they are now; decides nothing. */
export function reconcileState(state: AgentState, seen: ObservedPods): AgentState {
  const { pods, usage, now } = seen;
  const real = reconcileEvictions(withAdopted(state.evictions.Enforce, seen), seen);
  const pretended = reconcileEvictions(state.evictions.DryRun, seen);
  return {
    ...state,
    evictions: { Enforce: real.evictions, DryRun: pretended.evictions },
    terminating: updateTerminatingPods(state.terminating, pods.terminating, usage, now),
    breakers: awaitRelief(state.breakers, real.released, now),
    ...recordKubeletEvictions(state, pods.endedByKubelet, now),
  };
}

interface ReconciledState {
  readonly evictions: EvictionState;
  readonly released: readonly InflightEviction[];
}

function reconcileEvictions(evictions: EvictionState, { pods, usage, now }: ObservedPods): ReconciledState {
  const confirmed = evictions.inflight.map((each) => confirm(each, pods.aliveByUid));
  const { inflight, released } = reconcileInflight(confirmed, { alive: pods.aliveByUid, usage }, now);
  const past = recentEvictions(evictions.past, now);
  const pauses = withMoving(livePauses(evictions, pods, now), pods, now);
  return { evictions: { ...evictions, inflight, past, pauses }, released };
}

/** A request whose answer was lost took effect if its pod terminates. */
function confirm(eviction: InflightEviction, alive: ReadonlyMap<string, Pod>): InflightEviction {
  const pod = alive.get(eviction.uid);
  const hasTakenEffect = eviction.phase === 'unknown' && pod !== undefined && isTerminating(pod);
  return hasTakenEffect ? { ...eviction, phase: 'ending' } : eviction;
}

/**
 * Evictions that the agent requested before a restart are still in flight; evictions by others are not adopted.
 */
function withAdopted(evictions: EvictionState, { pods, usage, now }: ObservedPods): EvictionState {
  if (pods.terminating.length === 0) return evictions;
  const known = new Set(evictions.inflight.map(({ uid }) => uid));
  const asked = new Set(evictions.past.map(({ uid }) => uid));
  const orphans = pods.terminating.filter((pod) => isBeingEvicted(pod) && asked.has(pod.uid) && !known.has(pod.uid));
  if (orphans.length === 0) return evictions;
  return { ...evictions, inflight: [...evictions.inflight, ...orphans.map((pod) => adopt(pod, usage, now))] };
}

function adopt(pod: Pod, usage: UsageByUid, now: Instant): InflightEviction {
  return {
    uid: pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    owner: ownerOf(pod),
    signal: 'memory.available',
    stage: 'mild',
    mode: 'Enforce',
    phase: 'ending',
    requestedAt: now,
    graceSeconds: pod.deletion?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    expected: usage.get(pod.uid)?.memory?.workingSetBytes ?? 0,
    shortage: undefined,
    othersUsed: 0,
    releasedAt: undefined,
    isShortened: false,
  };
}

function recordKubeletEvictions(
  state: AgentState,
  ended: readonly KubeletEviction[],
  now: Instant,
): Pick<AgentState, 'kubeletVictims' | 'kubeletActedAt'> {
  const { kubeletVictims, kubeletActedAt } = state;
  if (ended.length === 0 && kubeletVictims.size === 0) return { kubeletVictims, kubeletActedAt };
  const recent = ended
    .filter(({ uid }) => !kubeletVictims.has(uid))
    .map(({ resource, at = now }) => [resource, Math.min(at, now)] as const)
    .filter(([resource, at]) => at >= (kubeletActedAt.get(resource) ?? -Infinity))
    .toSorted(([, left], [, right]) => left - right);
  return {
    kubeletVictims: new Set(ended.map(({ uid }) => uid)),
    kubeletActedAt: recent.length === 0 ? kubeletActedAt : new Map([...kubeletActedAt, ...recent]),
  };
}

/** Pauses of deleted pods are dropped; those of owners stay until they expire. */
function livePauses({ pauses }: EvictionState, { aliveByUid }: PodsOnNode, now: Instant): EvictionState['pauses'] {
  if (pauses.size === 0) return pauses;
  const isLive = ([key, { until }]: readonly [string, Pause]): boolean =>
    aliveByUid.has(key) ? now < until + PAUSE_MEMORY_MS : isOwner(key) && now < until;
  return new Map([...pauses].filter(isLive));
}

/** Another program's migration of a pod is awaited for so long, and in the severe stage for a minute. */
const MOVING_MS = 600_000;
const MOVING_IN_SEVERE_MS = 60_000;

/** Adds a pause for each pod that another program moves; once for a pod, since a tenant may write the annotation. */
function withMoving(pauses: EvictionState['pauses'], { running }: PodsOnNode, now: Instant): EvictionState['pauses'] {
  const moving = running.filter(
    ({ pod }) => pod.annotations.has(FOREIGN_EVICTION_IN_PROGRESS) && !pauses.has(pod.uid) && !isTerminating(pod),
  );
  if (moving.length === 0) return pauses;
  const pause = { since: now, until: now + MOVING_MS, attempts: 0, severeMs: MOVING_IN_SEVERE_MS };
  const because = REASONS.evictionInProgress({});
  return new Map([...pauses, ...moving.map(({ pod }) => [pod.uid, { ...pause, because }] as const)]);
}

/** An owner has the form `namespace/Kind/name`; a UID has no slash. */
function isOwner(key: string): boolean {
  return key.includes('/');
}
