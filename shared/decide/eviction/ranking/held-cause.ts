import type { Because } from '#shared/domain/base/because.ts';
import { isOwnReason, nameOf } from '#shared/domain/eviction/choose-victims.ts';
import { type HeldTaking, inWhoseStead, type Standing, type Taking } from '#shared/domain/eviction/shortage-cause.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { type Candidate, LOWEST_PRIORITY, mustMakeWay } from '#shared/domain/ranking/candidate.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import {
  growthOf,
  type GrowthWindows,
  lossOf,
  regrowthOf,
  unexplainedLoss,
} from '#shared/decide/eviction/usage-growth.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { leavingAboveRequest } from './rank-node.ts';
import { unmeasuredPod, type NodeRanking } from './safe-within-request.ts';

/** What is known about the shortage in addition to the ranking. */
export interface CauseQuery extends NodeRanking {
  readonly growth: GrowthWindows;
  /** What the node has left now; `undefined` if it is unknown. */
  readonly available: number | undefined;
  readonly gap: number;
  readonly isLastChance: boolean;
  /** Why the owner of a candidate must not lose another pod. */
  readonly limitOf: (candidate: Candidate) => Because | undefined;
}

/** A pod that stays, by name and with the reason. */
interface HeldPodTaking extends HeldTaking {
  readonly pod: string;
  readonly because: Because;
  /** Absent for a pod that cannot be read. */
  readonly candidate?: Candidate;
}

const NOT_RANKED = -1;

/**
 * Why a pod above its request must stay (docs/contributing/decisions/within-request.md): the pod that causes the shortage stays, and this one would be evicted in
 * its stead. The node is left to the kubelet then.
 */
export function heldCause(
  query: CauseQuery,
): (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined {
  const held = once(() => heldTakings(query));
  const lost = query.available === undefined ? [] : lossOf(query.growth, query.available);
  const ranks = once(() => new Map(query.ranked.map((candidate, rank) => [candidate, rank])));
  return (candidate, victims = []) => {
    if (!candidate.exceedsRequest || held().length === 0) return undefined;
    const mayHold = (each: HeldPodTaking): boolean => !mustMakeWay(candidate) || delaysSpare(each);
    const others = held().filter((each) => each.pod !== nameOf(candidate) && !isGoing(each, victims) && mayHold(each));
    const taking = takingOf(candidate, ranks().get(candidate) ?? NOT_RANKED, query);
    const cause = inWhoseStead(taking, others, { gap: query.gap, lost, isLastChance: query.isLastChance });
    if (cause === undefined) return undefined;
    const facts = { pod: cause.pod, why: cause.because.text };
    return REASONS.causeHeld(facts, { ...facts, ...identityOf(cause.candidate) });
  };
}

/**
 * Pods in spare room go even if another pod causes the shortage: without them the room would be there. Only room that
 * is about to become free is awaited; a cause that a tenant's budget protects must not keep what was lent.
 */
function delaysSpare({ candidate, standing, rank }: HeldPodTaking): boolean {
  return candidate !== undefined && mustMakeWay(candidate) && (standing !== 'held' || rank === NOT_RANKED);
}

/** A pod that was refused does not go yet when it is asked again. */
function isGoing({ standing, pod }: HeldPodTaking, victims: readonly Candidate[]): boolean {
  return standing !== 'held' && victims.some((each) => nameOf(each) === pod);
}

function identityOf(candidate: Candidate | undefined): Because['facts'] {
  if (candidate === undefined) return {};
  const { namespace, name, uid } = candidate.facts.pod;
  return { namespace, name, uid };
}

/** For status and Event: the pod that causes the shortage, if it holds back the eviction of others. */
export function leftToKubelet(ineligible: readonly { readonly because: Because }[]): readonly Because[] {
  const held = ineligible.find(({ because: { code, facts } }) => code === CAUSE_HELD && facts['uid'] !== undefined);
  if (held === undefined) return [];
  const { pod, why, namespace, name, uid } = held.because.facts;
  const facts = { pod: String(pod), why: String(why) };
  return [REASONS.leftToKubelet(facts, { namespace, pod: name, uid } as Because['facts'])];
}

const CAUSE_HELD = REASONS.causeHeld({ pod: '', why: '' }).code;
/** A gate that holds back every eviction, for status and Event. */
export const LEFT_TO_KUBELET = REASONS.leftToKubelet({ pod: '', why: '' }).code;

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function heldTakings(query: CauseQuery): readonly HeldPodTaking[] {
  return [
    ...query.ranked.flatMap((candidate, rank) => rankedTaking(candidate, rank, query)),
    ...leavingTakings(query),
    ...kubeletVictims(query),
    ...unknownTakings(query),
  ];
}

function rankedTaking(candidate: Candidate, rank: number, query: CauseQuery): readonly HeldPodTaking[] {
  if (!candidate.exceedsRequest) return [];
  const [standing, because] = standingOf(candidate, query) ?? [];
  if (standing === undefined || because === undefined) return [];
  const wishesLast = query.context.stage === 'mild' && candidate.isMarkedLast;
  return [{ ...stayingOf(candidate, rank, query), pod: nameOf(candidate), candidate, standing, wishesLast, because }];
}

function standingOf(candidate: Candidate, query: CauseQuery): readonly [Standing, Because] | undefined {
  const because = query.reasonAgainst(candidate) ?? lastFailure(candidate, query);
  if (because !== undefined) return isOwnReason(because) ? ['held', because] : undefined;
  const limit = query.limitOf(candidate);
  if (limit !== undefined) return ['limited', limit];
  if (query.context.stage === 'severe') return undefined;
  if (candidate.isMarkedLast) return ['lastWish', REASONS.goesLater({})];
  const isLast = candidate.facts.isDaemonSetPod && query.policy.ranking.daemonSets === 'Last';
  return isLast ? ['lastOfPolicy', REASONS.goesLater({})] : undefined;
}

/** How long a pod whose eviction failed once counts as held: it is retried, and no other pod is evicted in its place. */
const FAILED_MS: Instant = 10_000;

function lastFailure({ facts: { pod } }: Candidate, { context, snapshot: { now } }: CauseQuery): Because | undefined {
  const { failedUid, failures, answeredAt } = context.evictions;
  const isLatest = failedUid === pod.uid && failures > 0 && now - answeredAt < FAILED_MS;
  return isLatest ? REASONS.failed({}) : undefined;
}

/** As `takingOf`, of a pod that stays. */
function stayingOf(candidate: Candidate, rank: number, query: CauseQuery): Taking {
  const taking = takingOf(candidate, rank, query);
  const isKnown = taking.growth.length > 0;
  return isKnown ? { ...taking, growth: regrowthOf(query.growth, candidate.facts.pod.uid, taking.usage) } : taking;
}

function takingOf(candidate: Candidate, rank: number, { context, growth }: CauseQuery): Taking {
  const { facts, usage = 0, roundedOverage } = candidate;
  const isMemory = resourceOf(context.signal) === 'memory';
  return {
    priority: facts.priority,
    usage,
    overage: roundedOverage,
    rank,
    growth: isMemory ? growthOf(growth, facts.pod.uid, usage) : [],
  };
}

/** Pods that terminate, or were asked to, and still hold what they use: their end is awaited first. */
function leavingTakings(query: CauseQuery): readonly HeldPodTaking[] {
  const { context, snapshot, policy } = query;
  return leavingAboveRequest(context, snapshot, policy).map((candidate) => ({
    ...stayingOf(candidate, NOT_RANKED, query),
    pod: nameOf(candidate),
    candidate,
    standing: 'held',
    because: REASONS.terminating({}),
  }));
}

/** The kubelet evicted them first; their processes have not ended. */
function kubeletVictims({ context: { signal }, snapshot, growth }: CauseQuery): readonly HeldPodTaking[] {
  return snapshot.pods.endedByKubelet.flatMap(({ uid }) => {
    const usage = figureFor(signal, snapshot.usage.get(uid)) ?? 0;
    if (usage === 0) return [];
    const taking = { priority: LOWEST_PRIORITY, usage, overage: Infinity, rank: NOT_RANKED };
    const grown = resourceOf(signal) === 'memory' ? growthOf(growth, uid, usage) : [];
    const because = REASONS.terminating({});
    return [{ ...taking, growth: grown, pod: 'a pod that the kubelet evicted', standing: 'held', because } as const];
  });
}

/** A pod that cannot be measured or read may have taken what no other pod explains. */
function unknownTakings(query: CauseQuery): readonly HeldPodTaking[] {
  const { context, snapshot, growth, available } = query;
  if (available === undefined || resourceOf(context.signal) !== 'memory') return [];
  const [unreadable] = snapshot.pods.unreadable.map((pod) => ({ pod, because: REASONS.unreadable({}) }));
  const unknown = unmeasuredPod(query) ?? unreadable;
  if (unknown === undefined) return [];
  const taking = { priority: LOWEST_PRIORITY, usage: 0, overage: 0, rank: NOT_RANKED };
  return [{ ...taking, ...unknown, growth: unexplainedLoss(growth, snapshot, available), standing: 'unknown' }];
}
