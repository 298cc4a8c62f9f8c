import type { Because } from '#shared/domain/base/because.ts';
import {
  chooseVictims,
  type VictimChoice,
  type VictimRules,
  withoutUnneeded,
  heldAboveRequest,
  nameOf,
} from '#shared/domain/eviction/choose-victims.ts';
import { limitsFor } from '#shared/domain/eviction/eviction-limits.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { type Candidate, mustMakeWay } from '#shared/domain/ranking/candidate.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { AgentState } from './agent-state.ts';
import { type Eviction, evictionOf, shortenEviction, shorteningOf, urgencyOf } from './eviction.ts';
import {
  alreadyFreed,
  closedGates,
  freeSlots,
  type GateQuery,
  isFor,
  shorteningGates,
  isOwnerLimit,
  ownerLimit,
  type OwnerLimitQuery,
  takesLessThanLimited,
} from './eviction-gates.ts';
import {
  type EvictionState,
  evictionsFor,
  SEVERE_HOLD_MS,
  SEVERE_PAUSE_MS,
  SEVERE_TURN_MS,
} from './history/eviction-state.ts';
import { expectedLoss, roundsLeft } from './memory-trend.ts';
import { isLeaking } from './usage-growth.ts';
import { type CauseQuery, heldCause, leftToKubelet } from './ranking/held-cause.ts';
import { ineligibility, lastingProtection, type RankingContext, rankNode } from './ranking/rank-node.ts';
import { canBeShortened, isUncounted } from './history/inflight-eviction.ts';
import type { NodeSnapshot } from './snapshot/node-snapshot.ts';
import {
  heldPodIn,
  type NodeRanking,
  returnedInVain,
  safeWithinRequest,
  tooSmallReason,
} from './ranking/safe-within-request.ts';
import type { PressureTrigger, Shortage } from './shortage/pressure-trigger.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/** The demand of one shortage. */
export interface EvictionPlan extends Shortage {
  readonly evictions: readonly Eviction[];
}

/** The inputs of a plan. */
export interface PlanInput {
  readonly state: AgentState;
  readonly snapshot: NodeSnapshot;
  readonly policy: AgentPolicy;
}

/** Plans evictions for one trigger: first shortens terminating pods, then chooses further victims. */
export function planEvictions(trigger: PressureTrigger, given: PlanInput): EvictionPlan {
  const input = { ...given, policy: withUrgency(trigger, given) };
  const { state, snapshot, policy } = input;
  const query = queryOf(trigger, input);
  const shortened = shortenings(query, input);
  const left = { ...query, evictions: shortenAll(query.evictions, shortened) };
  const gap = gapOf(left, input);
  const gates = [...closedGates(left, state, snapshot), ...enoughTerminating(gap, left)];
  const choice = gates.length > 0 ? NO_CHOICE : choose(left, gap, input);
  const { victims } = choice;
  const held = victims.length + gates.length > 0 ? gates : noEligiblePod(choice);
  const chosen = victims.map((victim) => evictionOf(victim, trigger, { snapshot, policy, state }));
  return { trigger, evictions: [...shortened, ...chosen], closedGates: held };
}

/** In the last chance before memory is exhausted, the windows allow as much as the kubelet would evict. */
function withUrgency(trigger: PressureTrigger, { state, policy }: PlanInput): AgentPolicy {
  return { ...policy, limits: limitsFor(urgencyOf(trigger, state), policy.limits) };
}

type PlanQuery = GateQuery & {
  readonly trigger: PressureTrigger;
  readonly snapshot: NodeSnapshot;
  readonly perOwnerPerHour: number;
};

/** The amount to free, after counting what terminating pods will free and what others fill meanwhile. */
function gapOf(query: PlanQuery, { state, snapshot }: PlanInput): number {
  const { gap, signal } = query.trigger;
  const filledMeanwhile = resourceOf(signal) === 'memory' ? expectedLoss(state.trend) : 0;
  return gap + filledMeanwhile - alreadyFreed(query, state, snapshot);
}

/** In the severe stage, a pod that this agent evicted with a long grace period is asked to terminate sooner. */
function shortenings(query: PlanQuery, input: PlanInput): readonly Eviction[] {
  const { trigger, evictions } = query;
  const { state, snapshot, policy } = input;
  if (trigger.stage === 'mild' || gapOf(query, input) <= 0) return [];
  if (shorteningGates(query, snapshot).length > 0) return [];
  const slow = evictions.inflight.filter(
    (each) => each.mode === trigger.mode && isFor(trigger.signal, each) && canBeShortened(each, snapshot.now),
  );
  return slow.flatMap(({ uid }) => {
    const pod = state.terminating.has(uid) ? snapshot.pods.aliveByUid.get(uid) : undefined;
    const mayGo = pod !== undefined && lastingProtection(pod, policy, snapshot.namespaces) === undefined;
    return mayGo ? [shorteningOf(pod, trigger, snapshot)] : [];
  });
}

/** The evictions in flight after some were requested again. */
export function shortenAll(evictions: EvictionState, shortened: readonly Eviction[]): EvictionState {
  if (shortened.length === 0) return evictions;
  const uids = new Set(shortened.map(({ pod }) => pod.uid));
  const inflight = evictions.inflight.map((each) => (uids.has(each.uid) ? shortenEviction(each) : each));
  return { ...evictions, inflight };
}

interface VictimsOnNode extends Pick<VictimChoice, 'victims' | 'ineligible'> {
  /** Pods that are not terminating. */
  readonly candidates: number;
}

const NO_CHOICE: VictimsOnNode = { victims: [], ineligible: [], candidates: 0 };

/** A pod whose eviction was just refused comes after pods that were not tried yet. */
function choose(query: PlanQuery, gap: number, input: PlanInput): VictimsOnNode {
  if (query.trigger.stage === 'mild') return chooseWith({}, query, gap, input);
  const first = chooseWith({ pauseMs: SEVERE_TURN_MS }, query, gap, input);
  return first.victims.length > 0 ? first : chooseWith({ pauseMs: SEVERE_PAUSE_MS }, query, gap, input);
}

function chooseWith(
  pauses: Pick<RankingContext, 'pauseMs'>,
  query: PlanQuery,
  gap: number,
  input: PlanInput,
): VictimsOnNode {
  const { state, snapshot, policy } = input;
  const { trigger, evictions } = query;
  const context = { signal: trigger.signal, stage: trigger.stage, evictions, ...pauses };
  const all = rankNode(context, snapshot, policy);
  const ranked = refusedLater(trigger.onlySpare === true ? all.filter(mustMakeWay) : all, evictions);
  const reasonAgainst = ineligibility(context, snapshot, policy);
  const most = trigger.isPresent ? Math.min(freeSlots(query), Number.isFinite(gap) ? Infinity : 1) : 0;
  const ranking = { ranked, reasonAgainst, context, snapshot, policy };
  const isSafe = safeWithinRequest(ranking);
  const inVain = returnedInVain(ranking);
  const tooOften = ownerRule(ownersOf(query), query.pace === 'lastChance');
  const inStead = heldCause(causeQuery(ranking, trigger, input));
  const inTime = most * (resourceOf(trigger.signal) === 'memory' ? roundsLeft(state.trend) : Infinity);
  const isSevere = trigger.stage === 'severe' && Number.isFinite(gap) && most > 0;
  const minimum = policy.minimumRelief;
  const mayGo = { reasonAgainst: (each: Candidate) => reasonAgainst(each) ?? inStead(each), inTime, gap, minimum };
  const tooSmall = isSevere ? tooSmallReason(ranked, mayGo) : () => undefined;
  // Evicting the pod that takes the memory also ends what it would take, and no eviction is in vain then.
  const isWorthwhile = (each: Candidate): boolean => isLeaker(each, input);
  const choice = chooseVictims(ranked, {
    protectionOf: (candidate, victims, ineligible) =>
      reasonAgainst(candidate, victims) ??
      tooOften(candidate, victims, ineligible) ??
      (isWorthwhile(candidate) ? undefined : inVain(candidate)) ??
      isSafe(candidate) ??
      inStead(candidate, victims) ??
      (isWorthwhile(candidate) ? undefined : tooSmall(candidate)),
    most: isSevere ? inTime : most,
    gap,
  });
  const victims = (isSevere ? withoutUnneeded(choice, gap) : choice.victims).slice(0, most);
  return { victims, ineligible: choice.ineligible, candidates: ranked.length };
}

/**
 * In the same order, but of pods in spare room those that were refused less often come first: a tenant with many small
 * ones, each with a budget, would otherwise be asked in turn for ever, and keep what was lent.
 */
function refusedLater(ranked: readonly Candidate[], { pauses }: PlanQuery['evictions']): readonly Candidate[] {
  if (pauses.size === 0) return ranked;
  const attempts = ({ facts }: Candidate): number => pauses.get(facts.pod.uid)?.attempts ?? 0;
  const spare = ranked.filter(mustMakeWay).toSorted((left, right) => attempts(left) - attempts(right));
  const next = spare.values();
  return ranked.map((each) => (mustMakeWay(each) ? (next.next().value ?? each) : each));
}

/**
 * What an owner's limit says about each candidate. It yields when memory is nearly exhausted: the kubelet, which the
 * limit defers to, polls every ten seconds and would be too late, and an OOM kill protects no pod. A limit of 0 never
 * yields.
 */
function ownerRule(query: OwnerLimitQuery, isLastChance: boolean): VictimRules['protectionOf'] {
  const tooOften = ownerLimitNow(query, isLastChance);
  return (candidate, victims, ineligible) =>
    mustMakeWay(candidate) ? undefined : (tooOften(candidate, victims) ?? takesLessThanLimited(candidate, ineligible));
}

function ownerLimitNow(query: OwnerLimitQuery, isLastChance: boolean): ReturnType<typeof ownerLimit> {
  return isLastChance && query.most > 0 ? () => undefined : ownerLimit(query);
}

/** Whether a replacement takes the memory itself, so that its eviction is not in vain. */
function isLeaker({ facts, usage, signal }: Candidate, { state: { growth, trend } }: PlanInput): boolean {
  if (usage === undefined || trend === undefined || resourceOf(signal) !== 'memory') return false;
  return isLeaking(growth, facts.pod.uid, { used: usage, available: trend.available });
}

/** Eligible pods in ranking order; `trigger` is absent while nothing is short. */
export function eligiblePods(
  context: RankingContext,
  trigger: PressureTrigger | undefined,
  input: PlanInput,
): readonly Candidate[] {
  return judgePods(context, trigger, input)
    .filter(({ because }) => because === undefined)
    .map(({ candidate }) => candidate);
}

/** A ranked pod, and why it may not be evicted. */
export interface JudgedPod {
  readonly candidate: Candidate;
  readonly because: Because | undefined;
}

/** All candidates in ranking order; a pod that is only ranked after another one may be evicted. */
export function judgePods(
  context: RankingContext,
  trigger: PressureTrigger | undefined,
  input: PlanInput,
): readonly JudgedPod[] {
  const { snapshot, policy } = input;
  const reasonAgainst = ineligibility(context, snapshot, policy);
  const ranked = rankNode(context, snapshot, policy);
  const ranking = { ranked, reasonAgainst, context, snapshot, policy };
  const [isSafe, inVain] = [safeWithinRequest(ranking), returnedInVain(ranking)];
  const inStead = trigger === undefined ? () => undefined : heldCause(causeQuery(ranking, trigger, input));
  const whyHeld = (candidate: Candidate): Because | undefined => {
    const because = isSafe(candidate) ?? inStead(candidate);
    return heldPodIn(because) === undefined ? undefined : because;
  };
  return ranked.map((candidate) => {
    return { candidate, because: reasonAgainst(candidate) ?? inVain(candidate) ?? whyHeld(candidate) };
  });
}

/** What decides in whose stead a pod would go. */
export function causeQuery(ranking: NodeRanking, trigger: PressureTrigger, input: PlanInput): CauseQuery {
  const { state } = input;
  const query = { ...queryOf(trigger, input), evictions: ranking.context.evictions };
  const isLastChance = query.pace === 'lastChance';
  const { context, snapshot, policy } = ranking;
  const refused = context.stage === 'severe' ? { ...context, pauseMs: SEVERE_HOLD_MS } : context;
  return {
    ...ranking,
    reasonAgainst: ineligibility(refused, snapshot, policy),
    growth: state.growth,
    available: state.trend?.available,
    isLastChance,
    gap: gapOf(query, input),
    limitOf: ownerLimitNow(ownersOf(query), isLastChance),
  };
}

function queryOf(trigger: PressureTrigger, { state, snapshot, policy }: PlanInput): PlanQuery {
  const pace = urgencyOf(trigger, state) === 'LastChance' ? 'lastChance' : trigger.stage;
  const evictions = evictionsFor(trigger.mode, state.evictions);
  return { trigger, evictions, snapshot, limits: policy.limits, pace, perOwnerPerHour: policy.perOwnerPerHour };
}

function ownersOf({ trigger: { signal }, evictions, snapshot: { now }, perOwnerPerHour }: PlanQuery): OwnerLimitQuery {
  return { signal, evictions, now, most: perOwnerPerHour };
}

/** Why no candidate is eligible, counted by reason; the kubelet's own threshold is the backstop then. */
function noEligiblePod({ ineligible, candidates }: VictimsOnNode): readonly Because[] {
  if (candidates === 0) return [REASONS.noCandidate({})];
  if (ineligible.length === 0) return [];
  const counts: Record<string, number> = {};
  for (const { because } of ineligible) counts[because.code] = (counts[because.code] ?? 0) + 1;
  const reasons = Object.entries(counts).map(([code, count]) => `${count} ${code}`);
  const ofOwners = ineligible.map(({ because }) => because).filter(isOwnerLimit);
  const held = heldPodOf(ineligible);
  const named = ofOwners.length > 0 ? ofOwners.slice(0, 1) : leftToKubelet(ineligible);
  return [REASONS.noEligiblePod({ reasons: reasons.join(', '), held }, counts), ...named];
}

/** A pod because of which pods within their requests stay too, so that the kubelet has to act on the node. */
function heldPodOf(ineligible: VictimChoice['ineligible']): { pod: string; why: string } | undefined {
  const named = ineligible.map(({ because }) => heldPodIn(because)).find((each) => each !== undefined);
  const [held] = heldAboveRequest(ineligible);
  return held === undefined || named !== undefined ? named : { pod: nameOf(held.candidate), why: held.because.text };
}

/** What was requested counts as freed before the answer, even though the answer may be a refusal. */
function enoughTerminating(gap: number, { trigger, evictions }: PlanQuery): readonly Because[] {
  if (gap > 0) return [];
  const isAwaited = evictions.inflight.some((each) => isUncounted(each) && isFor(trigger.signal, each));
  return [isAwaited ? REASONS.awaitingAnswer({}) : REASONS.enoughTerminating({}, { missing: gap })];
}
