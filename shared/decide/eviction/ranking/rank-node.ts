import { type Pod, type Instant, ownerOf } from '#shared/domain/pod/pod.ts';
import {
  hasCriticalPriority,
  isMirrorOfNode,
  protectionOf,
  type ProtectionRules,
} from '#shared/domain/eviction/protection.ts';
import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import {
  type Candidate,
  type Circumstances,
  mustMakeWay,
  prepareCandidate,
  type RankingFacts,
} from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { policyOrder, type RankingOrder } from '#shared/domain/ranking/ranking-order.ts';
import { isMarkedLast, ownerWishes } from '#shared/kube/annotations/annotations.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import {
  type EvictionState,
  ownerDisruptedAt,
  activePause,
  deniedAlike,
  longestPause,
  namespaceKey,
  evictionsOf,
  lostByNamespace,
  namespaceLimit,
} from '#shared/decide/eviction/history/eviction-state.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { isTerminating, type NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { withinRequestProtection } from '#shared/domain/eviction/choose-victims.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import { isUncounted, type Severity } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/** Statistics without the figure that counts are treated as missing: unknown is not zero, and zero may be unknown. */
function measuredFor(signal: Signal, pod: Pod, usage: PodUsage | undefined): PodUsage | undefined {
  const figure = figureFor(signal, usage);
  return figure === undefined || isOutsideCgroup(signal, pod, figure) ? undefined : usage;
}

/** No running container has no memory at all: the memory of a virtual machine is charged to another cgroup. */
function isOutsideCgroup(signal: Signal, { status }: Pod, figure: number | undefined): boolean {
  return figure === 0 && resourceOf(signal) === 'memory' && status.phase === 'Running';
}

/** For a pod whose sources disagree, the smaller memory figure is used. */
function supportedUsage(signal: Signal, pod: Pod, { usage, doubtfulPods }: NodeSnapshot): PodUsage | undefined {
  const measured = measuredFor(signal, pod, usage.get(pod.uid));
  const doubt = doubtfulPods.get(pod.uid);
  if (measured?.memory?.workingSetBytes === undefined || doubt === undefined) return measured;
  const workingSetBytes = Math.min(measured.memory.workingSetBytes, doubt.theirsBytes);
  return { ...measured, memory: { ...measured.memory, workingSetBytes } };
}

/**
 * An owner with an avoid entry was disrupted by the writer of the entry at an unknown time, so it counts as disrupted
 * now.
 */
function circumstances(
  { pod }: RankingFacts,
  { past }: EvictionState,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): Circumstances {
  const owner = ownerOf(pod);
  const isAvoided = owner !== undefined && snapshot.avoided.has(owner);
  return {
    isMarkedLast: isMarkedLast(pod, policy.protect.optOutCeiling),
    ownerDisruptedAt: ownerDisruptedAt(past, owner) ?? (isAvoided ? snapshot.now : undefined),
  };
}

/** In the severe stage `evict: last` does not count: the pod that took the memory may have set it. */
export function orderFor(
  { signal, stage }: Pick<RankingContext, 'signal' | 'stage'>,
  { ranking }: AgentPolicy,
): RankingOrder {
  return policyOrder(ranking, resourceOf(signal), stage === 'severe' ? 'ignored' : 'honoured');
}

/** Running pods that do not terminate, ranked for one signal, first to evict first. */
export function rankNode(context: RankingContext, snapshot: NodeSnapshot, policy: AgentPolicy): readonly Candidate[] {
  const leaving = new Set(context.evictions.inflight.map(({ uid }) => uid));
  const staying = snapshot.pods.running.filter(({ pod }) => !isTerminating(pod) && !leaving.has(pod.uid));
  return rankPods(candidatesOf(staying, context, snapshot, policy), orderFor(context, policy));
}

/**
 * Pods that are terminating, or were asked to, and still use more than they requested. Excludes pods that have released
 * what they used, pods that the kubelet never evicts, and victims of a dry run, which stay.
 */
export function leavingAboveRequest(
  context: RankingContext,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): readonly Candidate[] {
  const inflight = new Map(context.evictions.inflight.map((each) => [each.uid, each] as const));
  const leaving = snapshot.pods.running.filter(({ pod }) => {
    if (isMirrorOfNode(pod) || hasCriticalPriority(pod)) return false;
    const eviction = inflight.get(pod.uid);
    if (eviction === undefined) return isTerminating(pod);
    return eviction.phase !== 'pretended' && eviction.releasedAt === undefined;
  });
  const above = candidatesOf(leaving, context, snapshot, policy).filter(({ exceedsRequest }) => exceedsRequest);
  return rankPods(above, orderFor(context, policy));
}

function candidatesOf(
  pods: readonly RankingFacts[],
  { signal, evictions }: RankingContext,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): readonly Candidate[] {
  return pods.map((facts) =>
    prepareCandidate(
      facts,
      supportedUsage(signal, facts.pod, snapshot),
      { signal, layout: policy.layout },
      circumstances(facts, evictions, snapshot, policy),
    ),
  );
}

function hasOptedOut(pod: Pod): boolean {
  return !ownerWishes(pod.annotations).mayBeEvicted;
}

/** Which pods are never evicted for node pressure, by the policy of their node and the labels of namespaces. */
export function evictionRules(
  protect: Pick<AgentPolicy['protect'], 'namespaces' | 'optOutCeiling'>,
  namespaces: NodeSnapshot['namespaces'],
): ProtectionRules {
  const ignored = [...namespaces].filter(([, state]) => state === 'ignored').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...protect.namespaces, ...ignored]),
    optOutCeiling: protect.optOutCeiling,
    wantsToStay: hasOptedOut,
  };
}

/** Whether an opt-out counts: `overruled` in the severe stage for a pod above its request, unless the policy says `Always`. */
export type OptOutForce = 'honoured' | 'overruled';

/** Why a pod must never be chosen as it is now, `undefined` if it may be. */
export function lastingProtection(
  pod: Pod,
  policy: AgentPolicy,
  namespaces: NodeSnapshot['namespaces'],
  optOut: OptOutForce = 'honoured',
): Because | undefined {
  return (
    protectionOf(pod, withOptOut(evictionRules(policy.protect, namespaces), optOut)) ??
    unknownNamespace(pod, namespaces)
  );
}

function withOptOut(rules: ProtectionRules, optOut: OptOutForce): ProtectionRules {
  return optOut === 'honoured' ? rules : { ...rules, wantsToStay: () => false };
}

/** An opt-out protects the requested amount, not the usage beyond it. A pod in spare room has requested nothing. */
export function optOutForce(
  candidate: Pick<Candidate, 'exceedsRequest' | 'facts' | 'signal'>,
  stage: Severity,
  { protect }: AgentPolicy,
): OptOutForce {
  const isBeyond = mustMakeWay(candidate) || (stage === 'severe' && candidate.exceedsRequest);
  return isBeyond && protect.optOut === 'WithinRequest' ? 'overruled' : 'honoured';
}

function unknownNamespace({ namespace }: Pod, namespaces: NodeSnapshot['namespaces']): Because | undefined {
  return namespaces.has(namespace) ? undefined : REASONS.namespaceUnknown({ namespace }, { namespace });
}

/** Why a pod without a figure stays. Without a byte it stays in any case: to evict it frees nothing that is known. */
function withoutStatistics(
  { facts: { pod }, usage, signal }: Candidate,
  policy: AgentPolicy,
  snapshot: NodeSnapshot,
): Because | undefined {
  if (usage !== undefined) return undefined;
  const isZero = isOutsideCgroup(signal, pod, figureFor(signal, snapshot.usage.get(pod.uid)));
  if (!isZero && policy.ranking.missingStats !== 'Never') return undefined;
  return REASONS.noStatistics({ isZero }, { pod: pod.name });
}

/** In the mild stage a pod with contradicted figures is not evicted; in the severe stage the smaller figure counts. */
function doubtful({ facts, signal }: Candidate, stage: Severity, { doubtfulPods }: NodeSnapshot): Because | undefined {
  return stage === 'mild' && resourceOf(signal) === 'memory' ? doubtfulPods.get(facts.pod.uid)?.because : undefined;
}

/** The pause of the pod, of its owner, whose other pods have the same budget, or of its namespace. */
function pauseOf(pod: Pod, { evictions, stage, pauseMs }: RankingContext, now: Instant): Because | undefined {
  if (evictions.pauses.size === 0) return undefined;
  const keys = [pod.uid, ownerOf(pod) ?? '', namespaceKey(pod.namespace)];
  const at = { now, longestMs: pauseMs ?? longestPause(stage) };
  return keys.map((key) => activePause(key, evictions, at)).find((pause) => pause !== undefined)?.because;
}

/** In the severe stage the alternative is the kernel's OOM killer, so the option does not apply (D-2). */
function withinRequest(candidate: Candidate, stage: Severity, { protect }: AgentPolicy): Because | undefined {
  return protect.withinRequest && stage === 'mild' ? withinRequestProtection(candidate) : undefined;
}

/** By namespace: evictions for this resource within the window, and those without an answer yet. */
function namespaceLosses(
  { past, inflight }: EvictionState,
  resource: StarvedResource,
  now: Instant,
): ReadonlyMap<string, number> {
  const losses = new Map(lostByNamespace(evictionsOf(past, resource), now));
  const asked = inflight.filter((each) => isUncounted(each) && resourceOf(each.signal) === resource);
  for (const { namespace } of asked) losses.set(namespace, (losses.get(namespace) ?? 0) + 1);
  return losses;
}

function countIn(namespace: string, victims: readonly Candidate[]): number {
  return victims.reduce((count, { facts }) => (facts.pod.namespace === namespace ? count + 1 : count), 0);
}

const NO_VICTIMS: readonly Candidate[] = [];

/** Why a candidate is ineligible now, `undefined` if it is eligible; `victims` are already chosen. */
export type Ineligibility = (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined;

/** The shortage, and the evictions of the same mode so far. */
export interface RankingContext {
  readonly signal: Signal;
  readonly stage: Severity;
  readonly evictions: EvictionState;
  /** The maximum length of pauses; if absent, that of the stage. */
  readonly pauseMs?: Instant;
}

/** Returns a function that gives the reason against a candidate: protection first, then pauses and limits. */
export function ineligibility(context: RankingContext, snapshot: NodeSnapshot, policy: AgentPolicy): Ineligibility {
  const { signal, stage, evictions } = context;
  const honoured = evictionRules(policy.protect, snapshot.namespaces);
  const rules = { honoured, overruled: withOptOut(honoured, 'overruled') };
  const losses = namespaceLosses(evictions, resourceOf(signal), snapshot.now);
  const lossOf = (namespace: string, victims: readonly Candidate[]): number =>
    (losses.get(namespace) ?? 0) + countIn(namespace, victims);
  return (candidate, victims = NO_VICTIMS) => {
    const { pod } = candidate.facts;
    return (
      protectionOf(pod, rules[optOutForce(candidate, stage, policy)]) ??
      unknownNamespace(pod, snapshot.namespaces) ??
      withoutStatistics(candidate, policy, snapshot) ??
      doubtful(candidate, stage, snapshot) ??
      withinRequest(candidate, stage, policy) ??
      pauseOf(pod, context, snapshot.now) ??
      deniedAlike(evictions, ownerOf(pod), snapshot.now) ??
      namespaceLimit(pod.namespace, lossOf(pod.namespace, victims), policy.limits)
    );
  };
}
