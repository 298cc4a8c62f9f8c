import type { Because } from '#shared/domain/base/because.ts';
import {
  heldAboveRequest,
  type HeldPod,
  isOwnReason,
  nameOf,
  leastRelief,
  type WantedRelief,
} from '#shared/domain/eviction/choose-victims.ts';
import { type Candidate, mustMakeWay } from '#shared/domain/ranking/candidate.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { type Instant, ownerOf } from '#shared/domain/pod/pod.ts';
import { evictionsOf, ownerDisruptedAt } from '#shared/decide/eviction/history/eviction-state.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { type Ineligibility, type RankingContext, leavingAboveRequest } from './rank-node.ts';

/** Everything that decides whether pods within their requests may be evicted. */
export interface NodeRanking {
  readonly ranked: readonly Candidate[];
  readonly reasonAgainst: Ineligibility;
  readonly context: RankingContext;
  readonly snapshot: NodeSnapshot;
  readonly policy: AgentPolicy;
}

const NO_STATISTICS = REASONS.noStatistics({}).code;
const HELD_CODES = [REASONS.aboveRequestHeld, REASONS.causeHeld].map((reasonOf) => reasonOf({ pod: '', why: '' }).code);

/**
 * Why a pod within its request must stay (docs/contributing/decisions/within-request.md): another pod holds more than it requested, or may do so.
 * That pod is evicted first, in any ranking. If it stays because of an annotation, a budget, a limit, a grace period or
 * a fault of this agent, the kubelet has to act. What holds pods above their requests is in `heldCause`.
 */
export function safeWithinRequest(ranking: NodeRanking): (candidate: Candidate) => Because | undefined {
  const { missingStats } = ranking.policy.ranking;
  const because = once(() => aboveRequest(ranking) ?? heldElsewhere(ranking));
  return (candidate) => {
    const isRankedByKubelet = candidate.usage === undefined && missingStats === 'First';
    return candidate.exceedsRequest || isRankedByKubelet ? undefined : because();
  };
}

/** The held pod that a reason of `safeWithinRequest` or `heldCause` names. */
export function heldPodIn(because: Because | undefined): { pod: string; why: string } | undefined {
  if (because === undefined || !HELD_CODES.includes(because.code)) return undefined;
  const { pod, why } = because.facts;
  return { pod: String(pod), why: String(why) };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function aboveRequest(ranking: NodeRanking): Because | undefined {
  const first = measuredAbove(ranking);
  if (first === undefined) return undefined;
  const because = ranking.reasonAgainst(first);
  return because === undefined
    ? REASONS.aboveRequestFirst({ pod: nameOf(first) })
    : held({ pod: nameOf(first), because });
}

/** Pods that are no candidates and hold more than they requested, or may do so. */
function heldElsewhere({ ranked, reasonAgainst, context, snapshot, policy }: NodeRanking): Because | undefined {
  const [terminating] = leavingAboveRequest(context, snapshot, policy);
  if (terminating !== undefined) return held({ pod: nameOf(terminating), because: REASONS.terminating({}) });
  if (isVictimOfKubeletLeft(context, snapshot))
    return held({ pod: 'a pod that the kubelet evicted', because: REASONS.terminating({}) });
  const unmeasured = unmeasuredPod({ ranked, reasonAgainst });
  if (unmeasured !== undefined) return held(unmeasured);
  const [unreadable] = snapshot.pods.unreadable;
  return unreadable === undefined ? undefined : held({ pod: unreadable, because: REASONS.unreadable({}) });
}

/**
 * The kubelet evicts pods above their requests first. The phase of its victim is Failed before the processes have
 * ended.
 */
function isVictimOfKubeletLeft({ signal }: RankingContext, { pods, usage }: NodeSnapshot): boolean {
  return pods.endedByKubelet.some(({ uid }) => (figureFor(signal, usage.get(uid)) ?? 0) > 0);
}

/** The first running pod that stays because it has no statistics: it may use any amount. */
export function unmeasuredPod({
  ranked,
  reasonAgainst,
}: Pick<NodeRanking, 'ranked' | 'reasonAgainst'>): HeldPod | undefined {
  for (const candidate of ranked) {
    if (candidate.usage !== undefined || candidate.facts.pod.status.phase !== 'Running') continue;
    const because = reasonAgainst(candidate);
    if (because?.code === NO_STATISTICS) return { pod: nameOf(candidate), because };
  }
  return undefined;
}

function held({ pod, because }: HeldPod): Because {
  const facts = { pod, why: because.text };
  return REASONS.aboveRequestHeld(facts, facts);
}

/** An eviction counts from its answer, which may arrive this long after the replacement. */
const ANSWERED_LATER_MS: Instant = 10_000;

/**
 * Why a pod that replaces an evicted one must stay in the severe stage. Evicting it again frees memory only for a
 * moment, and so delays the kubelet's eviction of a held pod that exceeds its request by more. A replacement without
 * statistics, which the policy may rank first, comes after every measured pod above its request.
 */
export function returnedInVain(ranking: NodeRanking): (candidate: Candidate) => Because | undefined {
  const largest = once(() => largestHeld(ranking));
  const measured = once(() => measuredAbove(ranking));
  return (candidate) => {
    if (ranking.context.stage === 'mild' || mustMakeWay(candidate)) return undefined;
    if (!isReplacement(candidate, ranking)) return undefined;
    const kept = candidate.usage === undefined ? measured() : largest();
    if (kept === undefined || kept.roundedOverage <= candidate.roundedOverage) return undefined;
    const facts = { pod: nameOf(kept) };
    return REASONS.returned(facts, facts);
  };
}

/** Whether it arrived after its owner had lost a pod on this node for the same resource. */
function isReplacement({ facts: { pod } }: Candidate, { context, snapshot }: NodeRanking): boolean {
  const cameAt = snapshot.pods.cameAt.get(pod.uid);
  if (cameAt === undefined) return false;
  const past = evictionsOf(context.evictions.past, resourceOf(context.signal));
  const evictedAt = ownerDisruptedAt(past, ownerOf(pod));
  return evictedAt !== undefined && cameAt > evictedAt - ANSWERED_LATER_MS;
}

function largestHeld({ ranked, reasonAgainst }: NodeRanking): Candidate | undefined {
  const ineligible = ranked.flatMap((candidate) => {
    const because = candidate.exceedsRequest ? reasonAgainst(candidate) : undefined;
    return because === undefined ? [] : [{ candidate, because }];
  });
  return heldAboveRequest(ineligible)[0]?.candidate;
}

/** The first pod above its request that the kubelet may evict. */
function measuredAbove({ ranked, reasonAgainst }: NodeRanking): Candidate | undefined {
  return ranked.find((candidate) => {
    if (!candidate.exceedsRequest) return false;
    const because = reasonAgainst(candidate);
    return because === undefined || isOwnReason(because);
  });
}

/** Why a candidate of the severe stage is too small to help (`leastRelief`), `undefined` if it is not. */
export function tooSmallReason(
  ranked: readonly Candidate[],
  wanted: WantedRelief,
): (candidate: Candidate) => Because | undefined {
  const least = leastRelief(ranked, wanted);
  return ({ usage = least }) =>
    usage >= least ? undefined : REASONS.tooSmall({}, { usage, least: Math.round(least) });
}
