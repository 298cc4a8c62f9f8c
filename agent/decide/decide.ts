import type { Because } from '#shared/domain/model/because.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import type { KubeletSignal, Signal } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { Mode } from '#agent/policy/mode.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import { advanceStalls, advanceStallStarts } from './shortage/advance-stalls.ts';
import { advanceThresholds } from './shortage/advance-thresholds.ts';
import type { AgentState } from './agent-state.ts';
import { decidingObservations } from './snapshot/deciding-observations.ts';
import { type Eviction, openEviction } from './eviction.ts';
import { judgeRelief, type Measured } from './eviction/eviction-circuit-breaker.ts';
import { evictionsFor, withEvictions } from './eviction/eviction-state.ts';
import { othersUse } from './snapshot/figure-for.ts';
import { advanceFigureGaps } from './snapshot/figure-gap.ts';
import { advanceTrend, isRacing } from './shortage/fill-rate.ts';
import type { Look } from './snapshot/node-snapshot.ts';
import { eligiblePods, type EvictionPlan, type PlanInput, planEvictions, shortenAll } from './plan-evictions.ts';
import { reconcileState } from './reconcile-state.ts';
import { advanceArrivals } from './shortage/rule-activation.ts';
import { type Due, findShortages } from './shortage/pressure-trigger.ts';
import { advanceUnmeasured } from './snapshot/unmeasured-pods.ts';

/** What was found, whether or not a pod has to go: for status, log and metrics. */
export interface Judgement {
  /** What is short, what enforces first; `undefined` while all is well. */
  readonly due: Due | undefined;
  /** Why no pod goes although something is short. */
  readonly holds: readonly Because[];
  /** Who may go, the first to go first; worked out once when it is asked for: while all is well few passes ask. */
  readonly candidates: () => readonly Candidate[];
}

export interface Decision {
  readonly state: AgentState;
  readonly evictions: readonly Eviction[];
  readonly judgement: Judgement;
}

/** What a ranking is shown for while nothing is short. */
const EVERYDAY_SIGNAL: Signal = 'memory.available';
const MODES: readonly Mode[] = ['Enforce', 'DryRun'];

/**
 * One look at the node: what was remembered, what is seen, the policy in force → what to remember, whom to evict.
 * Pure: the same arguments give the same answer. Each mode decides on its own, so that nothing that was only pretended
 * stands in the way of what is enforced.
 */
export function decide(previous: AgentState, look: Look, policy: AgentPolicy): Decision {
  const state = advance(previous, look, policy);
  const input = { state, look, policy };
  const triggers = findShortages(state, look, policy);
  const plans = MODES.flatMap((mode) => planFor(mode, triggers, input));
  const evictions = plans.flatMap((plan) => plan.evictions);
  return { state: openAll(state, evictions, look), evictions, judgement: judgementOf(plans[0], input) };
}

/** The first shortage of a mode that costs a pod; where none does, the most urgent one with what holds it back. */
function planFor(mode: Mode, triggers: readonly Due[], input: PlanInput): readonly EvictionPlan[] {
  let first: EvictionPlan | undefined;
  for (const trigger of triggers) {
    if (trigger.mode !== mode) continue;
    const plan = planEvictions(trigger, input);
    if (plan.evictions.length > 0) return [plan];
    first ??= plan;
  }
  return first === undefined ? [] : [first];
}

function judgementOf(plan: EvictionPlan | undefined, { state, look, policy }: PlanInput): Judgement {
  const due = plan?.trigger;
  const evictions = evictionsFor(due?.mode ?? policy.mode, state.evictions);
  const situation = { signal: due?.signal ?? EVERYDAY_SIGNAL, stage: due?.stage ?? 'mild', evictions } as const;
  return { due, holds: plan?.holds ?? [], candidates: once(() => eligiblePods(situation, look, policy)) };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function openAll(state: AgentState, evictions: readonly Eviction[], look: Look): AgentState {
  return evictions.reduce((next, eviction) => ({ ...next, evictions: openOne(next, eviction, look) }), state);
}

function openOne({ evictions }: AgentState, eviction: Eviction, look: Look): AgentState['evictions'] {
  return withEvictions(evictions, eviction.mode, (own) =>
    eviction.isShortening
      ? shortenAll(own, [eviction])
      : { ...own, inflight: [...own.inflight, openEviction(eviction, look)] },
  );
}

function advance(previous: AgentState, look: Look, policy: AgentPolicy): AgentState {
  const reconciled = reconcileState(previous, look);
  const thresholds = advanceThresholds(reconciled, decidingObservations(look, policy), policy, look.now);
  const { pressure } = thresholds;
  const { cpu, reclaim, strains, stalls: ratios, now } = look;
  const evidence = { memory: pressure.observations.get('memory.available'), cpu, reclaim, strains };
  const starts = advanceStallStarts(reconciled.stallStarts, previous.evictions, now);
  const measuredOf = (signal: KubeletSignal): Measured | undefined => measured(signal, pressure.observations, look);
  const trend = advanceTrend(reconciled.trend, measuredOf('memory.available'));
  const relief = {
    measuredOf,
    othersUse: ({ signal, uid }: { readonly signal: Signal; readonly uid: string }) =>
      othersUse(signal, look.usage, uid),
    isRacing: isRacing(trend),
  };
  const stalls = advanceStalls(reconciled.stalls, policy, { ratios, evidence, starts, now });
  const met = { observations: pressure.observations, stalls };
  return {
    ...reconciled,
    ...thresholds,
    stalls,
    stallStarts: starts,
    arrivals: look.holds.length > 0 ? reconciled.arrivals : advanceArrivals(reconciled.arrivals, policy, met),
    breakers: judgeRelief(reconciled.breakers, relief, look.now),
    trend,
    figureGaps: advanceFigureGaps(reconciled.figureGaps, look),
    unmeasuredSince: advanceUnmeasured(reconciled.unmeasuredSince, look),
  };
}

function measured(
  signal: KubeletSignal,
  observations: AgentState['pressure']['observations'],
  { now }: Look,
): Measured | undefined {
  const observation = observations.get(signal);
  if (observation === undefined) return undefined;
  return { available: quantityNumber(observation.available), at: observation.at ?? now };
}
