import type { Because } from '#shared/domain/base/because.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { type ThresholdSignal, resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { Mode, AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { type OwnerKey, ownerText, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { advanceStalls, advanceStallStarts } from './shortage/advance-stalls.ts';
import { advanceThresholds } from './shortage/advance-thresholds.ts';
import { type AgentState, reconcileState } from './agent-state.ts';
import { decidingObservations, othersUse, advanceFigureComparison } from './snapshot/deciding-figures.ts';
import { type Eviction, openEviction } from './eviction.ts';
import { assessRelief, type Measured } from './history/eviction-circuit-breaker.ts';
import { evictionsFor, type PastEviction, withEvictions } from './history/eviction-state.ts';
import { advanceTrend, isExhaustionImminent } from './memory-trend.ts';
import { advanceKubeletLead } from './shortage/kubelet-lead.ts';
import { advancePassing } from './shortage/passing-shortages.ts';
import { advanceGrowth } from './usage-growth.ts';
import { type NodeSnapshot, advanceUnmeasured } from './snapshot/node-snapshot.ts';
import { eligiblePods, type EvictionPlan, type PlanInput, planEvictions, shortenAll } from './plan-evictions.ts';
import { advanceActivations, withKeptThresholds } from './shortage/rule-activation.ts';
import { type PressureTrigger, type Shortage, findTriggers } from './shortage/pressure-trigger.ts';
import { withSpareLine } from './shortage/spare-line.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import type { Severity } from './history/inflight-eviction.ts';

/** The result of a pass for status, log and metrics, whether or not a pod is evicted. */
export interface Assessment {
  /** What triggers evictions, enforcing rules first; `undefined` while nothing is short. */
  readonly trigger: PressureTrigger | undefined;
  /** Why no pod is evicted although a resource is short. */
  readonly closedGates: readonly Because[];
  /** Eligible pods in ranking order; computed once, on first use, because most passes do not need it. */
  readonly candidates: () => readonly Candidate[];
}

export interface Decision {
  readonly state: AgentState;
  readonly evictions: readonly Eviction[];
  readonly assessment: Assessment;
}

/** The signal that the ranking is shown for while nothing is short. */
const EVERYDAY_SIGNAL: Signal = 'memory.available';
const MODES: readonly Mode[] = ['Enforce', 'DryRun'];

/**
 * Decides one pass: previous state, snapshot of the node and policy in force → next state and evictions. Pure: the same
 * arguments give the same result. Each mode decides on its own, so that a dry-run eviction never affects an enforced
 * one.
 */
export function decide(previous: AgentState, snapshot: NodeSnapshot, own: AgentPolicy): Decision {
  const policy = withKeptThresholds(own, previous);
  const state = advance(previous, snapshot, { policy, own });
  const input = { state, snapshot, policy };
  const triggers = withSpareLine(findTriggers(state, snapshot, policy), state, snapshot, policy);
  const plans = MODES.flatMap((mode) => planFor(mode, triggers, input));
  const evictions = plans.flatMap((plan) => plan.evictions);
  const shortage = plans[0] ?? ongoing(previous.shortage, state);
  return {
    state: { ...openAll(state, evictions, snapshot), shortage },
    evictions,
    assessment: assessmentOf(shortage, input),
  };
}

/** Between two readings of a slow source no threshold evicts a pod, and a shortage persists. */
function ongoing(shortage: Shortage | undefined, { pressure }: AgentState): Shortage | undefined {
  return pressure.met.some(({ id }) => id === shortage?.trigger.threshold.id) ? shortage : undefined;
}

/** The first trigger of a mode that evicts a pod; if none does, the most urgent one with the gates that are closed. */
function planFor(mode: Mode, triggers: readonly PressureTrigger[], input: PlanInput): readonly EvictionPlan[] {
  let first: EvictionPlan | undefined;
  for (const trigger of triggers) {
    if (trigger.mode !== mode) continue;
    const plan = planEvictions(trigger, input);
    if (plan.evictions.length > 0) return [plan];
    first ??= plan;
  }
  return first === undefined ? [] : [first];
}

function assessmentOf(shortage: Shortage | undefined, input: PlanInput): Assessment {
  const { state, policy } = input;
  const trigger = shortage?.trigger;
  const evictions = evictionsFor(trigger?.mode ?? policy.mode, state.evictions);
  const context = { signal: trigger?.signal ?? EVERYDAY_SIGNAL, stage: trigger?.stage ?? 'mild', evictions } as const;
  return {
    trigger,
    closedGates: shortage?.closedGates ?? [],
    candidates: once(() => eligiblePods(context, trigger, input)),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function openAll(state: AgentState, evictions: readonly Eviction[], snapshot: NodeSnapshot): AgentState {
  return evictions.reduce((next, eviction) => ({ ...next, evictions: openOne(next, eviction, snapshot) }), state);
}

function openOne({ evictions }: AgentState, eviction: Eviction, snapshot: NodeSnapshot): AgentState['evictions'] {
  return withEvictions(evictions, eviction.mode, (own) =>
    eviction.isShortening
      ? shortenAll(own, [eviction])
      : { ...own, inflight: [...own.inflight, openEviction(eviction, snapshot)] },
  );
}

/** The policy as it is, and with the thresholds that stay in force while others wait for confirmation. */
interface OwnPolicies {
  readonly own: AgentPolicy;
  readonly policy: AgentPolicy;
}

function advance(previous: AgentState, snapshot: NodeSnapshot, { own, policy }: OwnPolicies): AgentState {
  const reconciled = reconcileState(previous, snapshot);
  const thresholds = advanceThresholds(reconciled, decidingObservations(snapshot, policy), policy, snapshot.now);
  const { pressure } = thresholds;
  const { cpu, reclaim, podPressures, stalls: ratios, now } = snapshot;
  const evidence = { memory: pressure.observations.get('memory.available'), cpu, reclaim, podPressures };
  const starts = advanceStallStarts(reconciled.stallStarts, previous.evictions, now);
  const measuredOf = (signal: ThresholdSignal): Measured | undefined =>
    measured(signal, pressure.observations, snapshot);
  const trend = advanceTrend(reconciled.trend, measuredOf('memory.available'));
  const relief = {
    measuredOf,
    othersUse: ({ signal, uid }: { readonly signal: Signal; readonly uid: string }) =>
      othersUse(signal, snapshot.usage, uid),
    isExhaustionImminent: isExhaustionImminent(trend),
  };
  const stalls = advanceStalls(reconciled.stalls, policy, { ratios, evidence, starts, now });
  const met = { observations: pressure.observations, stalls, now };
  return {
    ...reconciled,
    ...thresholds,
    stalls,
    stallStarts: starts,
    activations:
      snapshot.closedGates.length > 0 ? reconciled.activations : advanceActivations(reconciled.activations, own, met),
    breakers: assessRelief(reconciled.breakers, relief, snapshot.now),
    trend,
    passing: advancePassing(reconciled.passing, snapshot, {
      observed: pressure.observations.get('memory.available'),
      thresholds: policy.thresholds,
    }),
    kubeletLead: advanceKubeletLead(reconciled.kubeletLead, snapshot, isMemoryCrossed(pressure)),
    growth: advanceGrowth(reconciled.growth, snapshot, measuredOf('memory.available')),
    figures: advanceFigureComparison(reconciled.figures, snapshot),
    unmeasuredSince: advanceUnmeasured(reconciled.unmeasuredSince, snapshot),
  };
}

function isMemoryCrossed({ observed }: AgentState['pressure']): boolean {
  return observed.some(({ signal }) => signal === 'memory.available');
}

function measured(
  signal: ThresholdSignal,
  observations: AgentState['pressure']['observations'],
  { now }: NodeSnapshot,
): Measured | undefined {
  const observation = observations.get(signal);
  if (observation === undefined) return undefined;
  return { available: quantityNumber(observation.available), at: observation.at ?? now };
}

/** One pass: its snapshot, the policy in force, and the decision. */
export interface PassResult {
  readonly snapshot: NodeSnapshot;
  readonly policy: AgentPolicy;
  readonly decision: Decision;
}

/** The outcome of an attempt, also of a dry run, for log, Events and status. */
export interface Attempt {
  readonly eviction: Eviction;
  readonly outcome: AttemptOutcome;
}

/** One eviction as the status and the dashboard show it; times are wall time. */
export interface EvictionRecord {
  readonly pod: Pick<Pod, 'namespace' | 'name' | 'uid'>;
  readonly owner: OwnerKey | undefined;
  readonly signal: Signal;
  readonly stage: Severity;
  readonly mode: Mode;
  readonly outcome: AttemptOutcome['kind'] | 'requested';
  readonly startedAt?: Instant | undefined;
  readonly requestedAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly because: Because;
  /** The ID of the decision; a record of an earlier version has none. */
  readonly decision?: string | undefined;
}

const COUNTED: readonly EvictionRecord['outcome'][] = ['evicted', 'foundEnding', 'pretended', 'requested'];

/** Whether it counts in the windows; one without a recorded answer may have taken effect. */
export function isCounted({ outcome }: Pick<EvictionRecord, 'outcome'>): boolean {
  return COUNTED.includes(outcome);
}

/**
 * The state of a process that has just started, with the evictions that the previous process recorded: the windows
 * continue, and owners disrupted before the restart rank later after it. Evictions in flight are read from
 * the pods. `wallOffsetMs` added to a monotonic time gives wall time; a record from a clock that was ahead counts as of
 * `now`, so that no window holds for longer than its length.
 */
export function restoreState(
  state: AgentState,
  records: readonly EvictionRecord[],
  { wallOffsetMs, now }: { readonly wallOffsetMs: number; readonly now: Instant },
): AgentState {
  const counted = records.filter(isCounted);
  const pastIn = (mode: Mode): readonly PastEviction[] => {
    const past = counted.filter((record) => record.mode === mode).map((record) => pastOf(record, wallOffsetMs, now));
    return past.toSorted((left, right) => left.at - right.at);
  };
  const { Enforce, DryRun } = state.evictions;
  const evictions = {
    Enforce: { ...Enforce, past: [...pastIn('Enforce'), ...Enforce.past] },
    DryRun: { ...DryRun, past: [...pastIn('DryRun'), ...DryRun.past] },
  };
  return { ...state, evictions };
}

function pastOf({ pod, owner, signal, requestedAt }: EvictionRecord, wallOffsetMs: number, now: Instant): PastEviction {
  const at = Math.min(requestedAt - wallOffsetMs, now);
  const past = { at, uid: pod.uid, namespace: pod.namespace, resource: resourceOf(signal) };
  return { ...past, owner: owner && ownerText(owner) };
}
