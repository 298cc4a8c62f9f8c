import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import { chooseVictims, type VictimChoice } from '#shared/domain/eviction/choose-victims.ts';
import { gracePeriodSeconds } from '#shared/domain/eviction/grace-period.ts';
import { advancePressure } from '#shared/domain/pressure/advance-pressure.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import { type KubeletSignal, resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { AgentState } from './agent-state.ts';
import { decidingObservations } from './deciding-observations.ts';
import { advanceFigureGaps } from './figure-gap.ts';
import { advanceTrend, expectedLoss } from './fill-rate.ts';
import type { InflightEviction, Stage } from './inflight-eviction.ts';
import { alreadyFreed, closedGates, freeSlots } from './eviction-gates.ts';
import type { Look } from './look.ts';
import type { Mode } from '#agent/mode.ts';
import { ownerOf } from './pod-owner.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import { figureFor, rankNode } from './rank-node.ts';
import { ineligibility } from './ineligibility.ts';
import { reconcileState } from './reconcile-state.ts';
import { type Due, findShortage } from './shortage.ts';
import { advanceStalls } from './advance-stalls.ts';
import { judgeRelief, type Measured } from './eviction-circuit-breaker.ts';

/** One pod that has to go now, and everything that has to be said about it. */
export interface Eviction {
  readonly pod: Pod;
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  readonly graceSeconds: number;
  /** What was short, for the kubelet's sentence. */
  readonly threshold: Threshold;
  readonly observed: Observation | undefined;
  /** Of the pod, as it was ranked. */
  readonly usage: PodUsage | undefined;
  readonly because: Because;
}

/** What was found, whether or not anybody has to go: for status, log and metrics. */
export interface Judgement {
  /** What is short; `undefined` while all is well. */
  readonly due: Due | undefined;
  /** Why nobody goes although something is short. */
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

/**
 * One look at the node: what was remembered, what is seen, the policy in force → what to remember, whom to evict.
 * Pure: the same arguments give the same answer, and dry run differs only in who carries it out.
 */
export function decide(previous: AgentState, look: Look, policy: AgentPolicy): Decision {
  const state = advance(previous, look, policy);
  const due = findShortage(state, look, policy);
  const signal = due?.signal ?? EVERYDAY_SIGNAL;
  const ranked = once(() => rankNode(signal, state, look, policy));
  const spareReason = ineligibility(due?.stage ?? 'mild', state, look, policy);
  const candidates = once(() => ranked().filter((candidate) => spareReason(candidate) === undefined));
  if (due === undefined) return { state, evictions: [], judgement: { due, holds: [], candidates } };
  const gap = gapOf(due, state, look);
  const holds = [...closedGates(due, state, look, policy), ...enoughEnding(gap)];
  const most = Math.min(freeSlots(state, look, policy), Number.isFinite(gap) ? Infinity : 1);
  const { victims, spared } =
    holds.length > 0 ? NO_CHOICE : chooseVictims(ranked(), { protectionOf: spareReason, most, gap });
  const evictions = victims.map((victim) => plan(victim, due, look, policy));
  return {
    state: { ...state, flights: [...state.flights, ...evictions.map((each) => open(each, due, look))] },
    evictions,
    judgement: { due, holds: victims.length > 0 ? holds : [...holds, ...nobodyMayGo(spared)], candidates },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** What must come free once what leaves already and what is filled meanwhile are counted. */
function gapOf(due: Due, state: AgentState, look: Look): number {
  const usageOf = (uid: string): number => figureFor(due.signal, look.usage.get(uid)) ?? 0;
  const filledMeanwhile = resourceOf(due.signal) === 'memory' ? expectedLoss(state.trend) : 0;
  return due.gap + filledMeanwhile - alreadyFreed(state, look, usageOf);
}

const NO_CHOICE: Pick<VictimChoice, 'victims' | 'spared'> = { victims: [], spared: [] };

/** Whom the laws and the budgets spare, by reason; from here on the kubelet's own threshold is the backstop. */
function nobodyMayGo(spared: VictimChoice['spared']): readonly Because[] {
  if (spared.length === 0) return [];
  const counts: Record<string, number> = {};
  for (const { because } of spared) counts[because.code] = (counts[because.code] ?? 0) + 1;
  const reasons = Object.entries(counts).map(([code, count]) => `${count} ${code}`);
  return [{ code: 'NobodyMayGo', text: `no pod may be evicted now: ${reasons.join(', ')}`, facts: counts }];
}

function enoughEnding(gap: number): readonly Because[] {
  if (gap > 0) return [];
  return [{ code: 'EnoughEnding', text: 'pods that are ending already give back enough', facts: { missing: gap } }];
}

function advance(previous: AgentState, look: Look, policy: AgentPolicy): AgentState {
  const settled = reconcileState(previous, look);
  const pressure = advancePressure(settled.pressure, decidingObservations(look, policy), policy, look.now);
  const { cpu, reclaim, strains } = look;
  const evidence = { memory: pressure.observations.get('memory.available'), cpu, reclaim, strains };
  return {
    ...settled,
    pressure,
    stalls: advanceStalls(settled.stalls, policy.stallRules, { ratios: look.stalls, evidence }, look.now),
    guard: judgeRelief(settled.guard, (signal) => measured(signal, pressure.observations, look), look.now),
    trend: advanceTrend(settled.trend, measured('memory.available', pressure.observations, look)),
    figureGaps: advanceFigureGaps(settled.figureGaps, look),
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

function plan({ facts: { pod } }: Candidate, due: Due, look: Look, { mostGraceSeconds }: AgentPolicy): Eviction {
  const { signal, stage, mode, threshold, observed, because } = due;
  const graceSeconds = Math.max(1, gracePeriodSeconds(threshold, pod, mostGraceSeconds));
  const usage = look.usage.get(pod.uid);
  return { pod, signal, stage, mode, graceSeconds, threshold, observed, usage, because };
}

function open({ pod, signal, stage, mode, graceSeconds, usage }: Eviction, due: Due, look: Look): InflightEviction {
  const { observed, threshold } = due;
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
    wasAdopted: false,
  };
}
