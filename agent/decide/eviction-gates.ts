import type { Because } from '#shared/domain/model/because.ts';
import type { AgentState } from './agent-state.ts';
import { roomOnNode } from './eviction-windows.ts';
import { countsAsFreed, isOutstanding, isUnanswered } from './inflight-eviction.ts';
import type { Look } from './look.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { Due } from './shortage.ts';
import { endsSoon } from './reconcile-state.ts';
import { breakerGate } from './eviction-circuit-breaker.ts';

/** After the kubelet ended a pod there is fresh air that no sample shows yet (F-25). */
const STAND_BACK_MS = 30_000;

function hold(code: string, text: string, facts: Because['facts'] = {}): Because {
  return { code, text, facts };
}

function attemptHold({ nextAttemptAt }: AgentState, { now }: Look): Because | undefined {
  if (now >= nextAttemptAt) return undefined;
  const seconds = Math.ceil((nextAttemptAt - now) / 1000);
  return hold('Backoff', `the last attempt was refused; the next is due in ${seconds} s`, { seconds });
}

function kubeletHold({ kubeletActedAt }: AgentState, { now }: Look): Because | undefined {
  if (kubeletActedAt === undefined || now - kubeletActedAt > STAND_BACK_MS) return undefined;
  return hold('KubeletActs', 'the kubelet has just ended a pod of this node', { windowSeconds: STAND_BACK_MS / 1000 });
}

function doubtHold(due: Due, { doubts }: Look): Because | undefined {
  // A stall rule stands on its evidence: doubt about memory is doubt about it.
  return doubts.get(due.signal) ?? (due.signal === 'memory.pressure' ? doubts.get('memory.available') : undefined);
}

/** Places that are taken: requests on their way, and those in doubt. */
export function outstanding(state: AgentState, look: Pick<Look, 'now'>): number {
  return state.flights.filter((flight) => isOutstanding(flight, look.now)).length;
}

/** How many victims may be taken now. */
export function freeSlots(state: AgentState, look: Look, { limits }: AgentPolicy): number {
  const free = Math.max(0, limits.concurrent - outstanding(state, look));
  const asking = state.flights.filter(isUnanswered).length;
  return Math.min(free, Math.max(0, roomOnNode(state.past, limits, look.now) - asking));
}

function limitHold(state: AgentState, look: Look, policy: AgentPolicy): Because | undefined {
  if (freeSlots(state, look, policy) > 0) return undefined;
  const count = outstanding(state, look);
  const { concurrent, perMinute, perTenMinutes } = policy.limits;
  if (count >= concurrent) {
    return hold('Outstanding', `${count} evictions are outstanding, the limit is ${concurrent}`, { count, concurrent });
  }
  const text = `the node's limit of ${perMinute} evictions a minute and ${perTenMinutes} in ten minutes is used up`;
  return hold('NodeLimit', text, { perMinute, perTenMinutes });
}

function stuckHold({ flights }: AgentState): Because | undefined {
  const count = flights.filter(({ phase }) => phase === 'stuck').length;
  const most = 2;
  return count < most ? undefined : hold('Stuck', `${count} evicted pods do not end`, { count, most });
}

/** What is on its way out already, in the signal's unit: pods that end, and dry runs that would. */
export function alreadyFreed(state: AgentState, look: Look, usageOf: (uid: string) => number): number {
  const leaving = new Set(state.flights.filter(countsAsFreed).map(({ uid }) => uid));
  for (const pod of look.pods.ending) if (endsSoon(pod, state.endingSince, look.now)) leaving.add(pod.uid);
  for (const { uid, phase } of state.flights) if (phase === 'stuck') leaving.delete(uid);
  let sum = 0;
  for (const uid of leaving) sum += usageOf(uid);
  return sum;
}

/** Everything that speaks against evicting anybody now; empty means go. */
export function closedGates(due: Due, state: AgentState, look: Look, policy: AgentPolicy): readonly Because[] {
  return [
    ...look.holds,
    doubtHold(due, look),
    breakerGate(state.guard, look.now),
    kubeletHold(state, look),
    stuckHold(state),
    attemptHold(state, look),
    limitHold(state, look, policy),
  ].filter((each) => each !== undefined);
}
