import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { protectionOf, type ProtectionRules } from '#shared/domain/eviction/protection.ts';
import { withinRequestProtection } from '#shared/domain/eviction/within-request.ts';
import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { ownerWishes } from '#shared/kube/annotations/owner-wishes.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { EvictionState } from '#agent/decide/eviction/eviction-state.ts';
import { evictionsOf, lostByNamespace, namespaceLimit } from '#agent/decide/eviction/eviction-windows.ts';
import { isUncounted, type Stage } from '#agent/decide/eviction/inflight-eviction.ts';
import type { NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';
import { ownerOf } from '#shared/domain/pod/pod-owner.ts';
import { REASONS } from '#agent/messages.ts';

function hasOptedOut(pod: Pod): boolean {
  return !ownerWishes(pod.annotations).mayBeEvicted;
}

function rulesOf({ protect }: AgentPolicy, { namespaces }: Pick<NodeSnapshot, 'namespaces'>): ProtectionRules {
  const ignored = [...namespaces].filter(([, state]) => state === 'ignored').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...protect.namespaces, ...ignored]),
    optOutCeiling: protect.optOutCeiling,
    wantsToStay: hasOptedOut,
  };
}

/** Why a pod must never be chosen as it is now, `undefined` if it may be. */
export function lastingProtection(
  pod: Pod,
  policy: AgentPolicy,
  namespaces: NodeSnapshot['namespaces'],
): Because | undefined {
  return protectionOf(pod, rulesOf(policy, { namespaces })) ?? unknownNamespace(pod, namespaces);
}

function unknownNamespace({ namespace }: Pod, namespaces: NodeSnapshot['namespaces']): Because | undefined {
  return namespaces.has(namespace) ? undefined : REASONS.namespaceUnknown({ namespace }, { namespace });
}

function withoutStatistics({ facts, usage }: Candidate, policy: AgentPolicy): Because | undefined {
  if (usage !== undefined || policy.ranking.missingStats !== 'Never') return undefined;
  return REASONS.noStatistics({}, { pod: facts.pod.name });
}

/** In the mild stage a pod with contradicted figures is not evicted; in the severe stage the smaller figure counts. */
function doubtful({ facts, signal }: Candidate, stage: Stage, { doubtfulPods }: NodeSnapshot): Because | undefined {
  return stage === 'mild' && resourceOf(signal) === 'memory' ? doubtfulPods.get(facts.pod.uid)?.because : undefined;
}

/** The pause of the pod, or of its owner, whose other pods have the same budget. */
function pauseOf(pod: Pod, { pauses }: EvictionState, { now }: NodeSnapshot): Because | undefined {
  if (pauses.size === 0) return undefined;
  const owner = ownerOf(pod);
  const found = [pauses.get(pod.uid), owner === undefined ? undefined : pauses.get(owner)];
  return found.find((pause) => pause !== undefined && now < pause.until)?.because;
}

/** In the severe stage the alternative is the kernel's OOM killer, so the option does not apply (D-2). */
function withinRequest(candidate: Candidate, stage: Stage, { protect }: AgentPolicy): Because | undefined {
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

/** What is short, and the evictions of the same mode so far. */
export interface RankingContext {
  readonly signal: Signal;
  readonly stage: Stage;
  readonly evictions: EvictionState;
}

/** Returns a function that gives the reason against a candidate: protection first, then pauses and limits. */
export function ineligibility(
  { signal, stage, evictions }: RankingContext,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): Ineligibility {
  const rules = rulesOf(policy, snapshot);
  const losses = namespaceLosses(evictions, resourceOf(signal), snapshot.now);
  const lossOf = (namespace: string, victims: readonly Candidate[]): number =>
    (losses.get(namespace) ?? 0) + countIn(namespace, victims);
  return (candidate, victims = NO_VICTIMS) => {
    const { pod } = candidate.facts;
    return (
      protectionOf(pod, rules) ??
      unknownNamespace(pod, snapshot.namespaces) ??
      withoutStatistics(candidate, policy) ??
      doubtful(candidate, stage, snapshot) ??
      withinRequest(candidate, stage, policy) ??
      pauseOf(pod, evictions, snapshot) ??
      namespaceLimit(pod.namespace, lossOf(pod.namespace, victims), policy.limits)
    );
  };
}
