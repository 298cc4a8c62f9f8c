import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { AgentState } from './agent-state.ts';
import { recentEvictions } from './eviction-windows.ts';
import { type InflightEviction, reconcileInflight } from './inflight-eviction.ts';
import { isBeingEvicted, isEnding, type Look, type PodsOnNode } from './look.ts';
import { ownerOf } from './pod-owner.ts';
import { awaitRelief } from './eviction-circuit-breaker.ts';

/** A pod that is ending counts as freed for its grace and a moment more, however long it then takes (F-32). */
const CLEAN_UP_MS = 10_000;
const LONGEST_WAIT_MS = 600_000;
const DEFAULT_GRACE_SECONDS = 30;
/** Attempts are counted until a pod was left in peace for this long. */
const PAUSE_MEMORY_MS = 600_000;

/** An eviction that this process did not ask for, as after a restart: it is on its way all the same (F-17). */
function adopt(pod: Pod, now: Instant): InflightEviction {
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
    expected: 0,
    shortage: undefined,
    wasAdopted: true,
  };
}

function adoptUnknown(
  flights: readonly InflightEviction[],
  ending: readonly Pod[],
  now: Instant,
): readonly InflightEviction[] {
  const known = new Set(flights.map(({ uid }) => uid));
  return ending.filter((pod) => isBeingEvicted(pod) && !known.has(pod.uid)).map((pod) => adopt(pod, now));
}

/** A request whose answer was lost has taken effect once its pod is seen to end. */
function confirm(flight: InflightEviction, alive: ReadonlyMap<string, Pod>): InflightEviction {
  const pod = alive.get(flight.uid);
  return flight.phase === 'unknown' && pod !== undefined && isEnding(pod) ? { ...flight, phase: 'ending' } : flight;
}

function noteEnding(
  previous: AgentState['endingSince'],
  ending: readonly Pod[],
  now: Instant,
): AgentState['endingSince'] {
  if (ending.length === 0 && previous.size === 0) return previous;
  return new Map(ending.map(({ uid }) => [uid, previous.get(uid) ?? now]));
}

/** Whether a pod that ends counts as freed already. */
export function endsSoon(pod: Pod, endingSince: AgentState['endingSince'], now: Instant): boolean {
  const since = endingSince.get(pod.uid);
  if (since === undefined) return false;
  const graceMs = (pod.deletion?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  return now - since <= Math.min(graceMs + CLEAN_UP_MS, LONGEST_WAIT_MS);
}

function noteKubelet(
  state: AgentState,
  ended: readonly Pod[],
  now: Instant,
): Pick<AgentState, 'kubeletVictims' | 'kubeletActedAt'> {
  if (ended.length === 0 && state.kubeletVictims.size === 0) return state;
  const isNew = ended.some(({ uid }) => !state.kubeletVictims.has(uid));
  return {
    kubeletVictims: new Set(ended.map(({ uid }) => uid)),
    kubeletActedAt: isNew ? now : state.kubeletActedAt,
  };
}

function livePauses({ pauses }: AgentState, { aliveByUid }: PodsOnNode, now: Instant): AgentState['pauses'] {
  if (pauses.size === 0) return pauses;
  return new Map([...pauses].filter(([uid, { until }]) => now < until + PAUSE_MEMORY_MS && aliveByUid.has(uid)));
}

/** Brings what is remembered in line with the pods as they are now: nothing is decided here. */
export function reconcileState(state: AgentState, { pods, now }: Pick<Look, 'pods' | 'now'>): AgentState {
  const confirmed = state.flights.map((flight) => confirm(flight, pods.aliveByUid));
  const known = [...confirmed, ...adoptUnknown(confirmed, pods.ending, now)];
  const { flights, closed } = reconcileInflight(known, pods.aliveByUid, now);
  const { kubeletVictims, kubeletActedAt } = noteKubelet(state, pods.endedByKubelet, now);
  return {
    ...state,
    flights,
    endingSince: noteEnding(state.endingSince, pods.ending, now),
    past: recentEvictions(state.past, now),
    pauses: livePauses(state, pods, now),
    guard: awaitRelief(state.guard, closed, now),
    kubeletVictims,
    kubeletActedAt,
  };
}
