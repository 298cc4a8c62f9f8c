import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { AgentState } from './agent-state.ts';
import { recentEvictions } from './eviction-windows.ts';
import { type Flight, settleFlights } from './flight.ts';
import { hasEnded, isBeingEvicted, isEnding, type Look, wasEndedByKubelet } from './look.ts';
import { controllerOf } from './pod-owner.ts';
import { awaitRelief } from './storm-guard.ts';

/** A pod that is ending counts as freed for its grace and a moment more, however long it then takes (F-32). */
const CLEAN_UP_MS = 10_000;
const LONGEST_WAIT_MS = 600_000;
const DEFAULT_GRACE_SECONDS = 30;
/** Attempts are counted until a pod was left in peace for this long. */
const PAUSE_MEMORY_MS = 600_000;

/** An eviction that this process did not ask for, as after a restart: it is on its way all the same (F-17). */
function adopt(pod: Pod, now: Instant): Flight {
  return {
    uid: pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    owner: controllerOf(pod)?.uid,
    signal: 'memory.available',
    stage: 'mild',
    mode: 'Enforce',
    phase: 'ending',
    requestedAt: now,
    graceSeconds: pod.deletion?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    expected: 0,
    availableBefore: undefined,
    wasAdopted: true,
  };
}

function adoptUnknown(flights: readonly Flight[], pods: readonly Pod[], now: Instant): readonly Flight[] {
  const known = new Set(flights.map(({ uid }) => uid));
  return pods.filter((pod) => isBeingEvicted(pod) && !known.has(pod.uid)).map((pod) => adopt(pod, now));
}

/** A request whose answer was lost has taken effect once its pod is seen to end. */
function confirm(flight: Flight, alive: ReadonlyMap<string, Pod>): Flight {
  const pod = alive.get(flight.uid);
  return flight.phase === 'unknown' && pod !== undefined && isEnding(pod) ? { ...flight, phase: 'ending' } : flight;
}

function noteEnding(
  previous: AgentState['endingSince'],
  pods: readonly Pod[],
  now: Instant,
): AgentState['endingSince'] {
  return new Map(pods.filter(isEnding).map(({ uid }) => [uid, previous.get(uid) ?? now]));
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
  pods: readonly Pod[],
  now: Instant,
): Pick<AgentState, 'kubeletVictims' | 'kubeletActedAt'> {
  const victims = new Set(pods.filter(wasEndedByKubelet).map(({ uid }) => uid));
  const isNew = [...victims].some((uid) => !state.kubeletVictims.has(uid));
  return { kubeletVictims: victims, kubeletActedAt: isNew ? now : state.kubeletActedAt };
}

/** Brings what is remembered in line with the pods as they are now: nothing is decided here. */
export function settleWorld(state: AgentState, { pods, now }: Pick<Look, 'pods' | 'now'>): AgentState {
  const all = pods.map(({ pod }) => pod);
  const alive = new Map(all.filter((pod) => !hasEnded(pod)).map((pod) => [pod.uid, pod]));
  const confirmed = state.flights.map((flight) => confirm(flight, alive));
  const { flights, closed } = settleFlights([...confirmed, ...adoptUnknown(confirmed, all, now)], alive, now);
  return {
    ...state,
    flights,
    endingSince: noteEnding(state.endingSince, all, now),
    past: recentEvictions(state.past, now),
    pauses: new Map([...state.pauses].filter(([uid, { until }]) => now < until + PAUSE_MEMORY_MS && alive.has(uid))),
    guard: awaitRelief(state.guard, closed, now),
    ...noteKubelet(state, all, now),
  };
}
