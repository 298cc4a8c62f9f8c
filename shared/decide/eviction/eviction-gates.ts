import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { type Instant, ownerOf } from '#shared/domain/pod/pod.ts';
import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { type Ineligible, overageOfLimited } from '#shared/domain/eviction/choose-victims.ts';
import { type Candidate, mustMakeWay } from '#shared/domain/ranking/candidate.ts';
import type { AgentState } from './agent-state.ts';
import {
  countsAsFreed,
  isFalling,
  activePause,
  type EvictionState,
  longestPause,
  windowKey,
  evictionsOf,
  freeSlotsOnNode,
} from './history/eviction-state.ts';
import { kernelGate, passingGate, takerOf, withinRequestGate } from './shortage/passing-shortages.ts';
import { kubeletLeadGate } from './shortage/kubelet-lead.ts';
import { breakerGate } from './history/eviction-circuit-breaker.ts';
import { figureFor } from './snapshot/deciding-figures.ts';
import {
  type InflightEviction,
  isExpectedToEnd,
  isOutstanding,
  isUncounted,
  type Pace,
  type Severity,
} from './history/inflight-eviction.ts';
import type { NodeSnapshot } from './snapshot/node-snapshot.ts';
import type { PressureTrigger } from './shortage/pressure-trigger.ts';

/**
 * After the kubelet evicted a pod, its relief has not been measured yet. The severe stage has no time to wait for it.
 */
const STAND_BACK_MS: Readonly<Record<Severity, Instant>> = { mild: 30_000, severe: 2000 };

/** One trigger with the evictions of its mode; the input of every gate. */
export interface GateQuery {
  readonly trigger: Pick<PressureTrigger, 'signal' | 'stage' | 'onlySpare'>;
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
 * The terminating pods whose resources count as freed. Of this agent's evictions, those for the same resource and any
 * whose memory is falling; of pods that others terminate, those expected to end in time.
 */
function freedPods(
  { trigger: { signal }, evictions, pace }: GateQuery,
  state: Pick<AgentState, 'terminating'>,
  snapshot: Pick<NodeSnapshot, 'now'>,
): ReadonlySet<string> {
  const isFreeing = (each: InflightEviction): boolean =>
    (isFor(signal, each) && isExpectedToEnd(each, pace, snapshot.now)) ||
    (pace !== 'mild' && isFalling(state.terminating.get(each.uid), snapshot.now));
  const leaving = new Set(evictions.inflight.filter(isFreeing).map(({ uid }) => uid));
  const own = new Set(evictions.inflight.map(({ uid }) => uid));
  for (const [uid, pod] of state.terminating)
    if (!own.has(uid) && countsAsFreed(pod, pace, snapshot.now)) leaving.add(uid);
  return leaving;
}

/** What terminating pods will free, in the signal's unit. */
export function alreadyFreed(
  query: GateQuery,
  state: Pick<AgentState, 'terminating'>,
  snapshot: Pick<NodeSnapshot, 'now' | 'usage'>,
): number {
  let sum = 0;
  for (const uid of freedPods(query, state, snapshot))
    sum += figureFor(query.trigger.signal, snapshot.usage.get(uid)) ?? 0;
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
    ...(signal === 'memory.available' ? waitingGates(query.trigger, state, snapshot) : []),
    kubeletGate(query, state),
    stuckGate(query.evictions, snapshot, query.trigger.stage),
    attemptGate(query),
    windowGate(query),
    limitGate(query),
  ].filter((each) => each !== undefined);
}

/** Why a shortage of memory may end without an eviction by the agent. */
function waitingGates(
  { stage, onlySpare }: GateQuery['trigger'],
  state: AgentState,
  snapshot: NodeSnapshot,
): readonly (Because | undefined)[] {
  const { now } = snapshot;
  const { passing, kubeletLead } = state;
  const { current } = passing;
  const leads = onlySpare === true ? undefined : kubeletLeadGate(stage, kubeletLead, { current, now });
  if (stage === 'mild') return [leads, kernelGate(passing, now)];
  const waits = onlySpare === true ? undefined : withinRequestGate(takerOf(state), snapshot);
  return [leads, passingGate(passing, now) ?? waits];
}

/**
 * With this many evicted pods that do not terminate, the agent stops, because something is wrong with the node. In the
 * severe stage a stuck pod does not keep the agent from the next pod above its request; pods within theirs stay anyway.
 * While the kubelet is ready there is no bound, as in the kubelet itself (docs/contributing/decisions/severe-stage.md); otherwise it is the
 * default number of evictions in ten minutes (docs/contributing/decisions/severe-stage.md).
 */
const MAX_STUCK: Readonly<Record<Severity, number>> = { mild: 2, severe: 4 };
/** If the kubelet posts no status either, one is enough to know that evictions are not carried out. */
const MAX_STUCK_IN_SILENCE = 1;

type KubeletContact = Pick<NodeSnapshot, 'isKubeletSilent' | 'isKubeletReady'>;

type Evictions = Pick<EvictionState, 'inflight'>;

/** Number of evicted pods that hold their resources beyond their grace period. */
export function stuckCount({ inflight }: Evictions): number {
  return inflight.filter(({ phase }) => phase === 'stuck').length;
}

/**
 * Why evictions are stuck: the API server accepted evictions that the kubelet does not carry out; `undefined` if none
 * is.
 */
export function stuckEvictions(
  evictions: Evictions,
  contact: KubeletContact,
  stage: Severity = 'mild',
): Because | undefined {
  const count = stuckCount(evictions);
  if (count === 0) return undefined;
  const { isKubeletSilent, isKubeletReady } = contact;
  const most = mostStuck(contact, stage);
  return REASONS.stuck({ count, isKubeletSilent, isKubeletReady }, { count, ...(most < Infinity && { most }) });
}

/** The reason as a gate: `undefined` while further evictions are allowed. */
function stuckGate(evictions: Evictions, contact: KubeletContact, stage: Severity): Because | undefined {
  return stuckCount(evictions) < mostStuck(contact, stage) ? undefined : stuckEvictions(evictions, contact, stage);
}

function mostStuck({ isKubeletSilent, isKubeletReady }: KubeletContact, stage: Severity): number {
  if (isKubeletSilent) return MAX_STUCK_IN_SILENCE;
  return isKubeletReady && stage === 'severe' ? Infinity : MAX_STUCK[stage];
}

const OWNER_LIMIT = 'OwnerLimit';

/** Input of the owner limit. */
export interface OwnerLimitQuery {
  readonly signal: Signal;
  readonly evictions: EvictionState;
  readonly now: Instant;
  /** Largest number of evicted pods of one owner per hour. */
  readonly most: number;
}

/**
 * Why a candidate must not be evicted because its owner has reached its limit for this resource: a replacement would
 * return and use as much again, and an agent that acts before the kubelet prevents the taint that would keep it away.
 * Pods in spare room have no limit: otherwise those of one owner would keep each other in the room of important pods.
 */
export function ownerLimit(
  query: OwnerLimitQuery,
): (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined {
  const lost = lostByOwner(query, resourceOf(query.signal));
  return (candidate, victims = []) => {
    const { pod } = candidate.facts;
    const owner = ownerOf(pod);
    if (owner === undefined || mustMakeWay(candidate)) return undefined;
    const count = (lost.get(owner) ?? 0) + victims.filter(({ facts }) => ownerOf(facts.pod) === owner).length;
    if (count < query.most) return undefined;
    const { namespace, name, uid } = pod;
    const figures = { owner, count, most: query.most };
    return REASONS.ownerLimit(figures, { ...figures, namespace, pod: name, uid });
  };
}

/** Why a candidate must not be evicted in place of a pod whose owner is at its limit. */
export function takesLessThanLimited(candidate: Candidate, ineligible: readonly Ineligible[]): Because | undefined {
  const limited = ineligible.filter(({ because }) => isOwnerLimit(because)).map((each) => each.candidate);
  const largest = overageOfLimited(candidate, limited);
  if (largest === undefined) return undefined;
  return REASONS.lessThanLimitedOwner({}, { overage: candidate.roundedOverage, largest });
}

/** Whether a pod stays because of its owner's limit; if no other pod is eligible, the kubelet takes over. */
export function isOwnerLimit({ code }: Because): boolean {
  return code === OWNER_LIMIT;
}

function lostByOwner({ evictions, now }: OwnerLimitQuery, resource: StarvedResource): ReadonlyMap<string, number> {
  const past = evictionsOf(evictions.past, resource).filter(({ at }) => now - at < HOUR_MS);
  const asked = evictions.inflight.filter((each) => isUncounted(each) && resourceOf(each.signal) === resource);
  const lost = new Map<string, number>();
  for (const { owner } of [...past, ...asked]) if (owner !== undefined) lost.set(owner, (lost.get(owner) ?? 0) + 1);
  return lost;
}
