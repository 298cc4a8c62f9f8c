import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { protectionOf, type ProtectionRules } from '#shared/domain/eviction/protection.ts';
import { withinRequestProtection } from '#shared/domain/eviction/within-request.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { ownerWishes } from '#shared/kube/owner-wishes.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/wire-names.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { AgentState } from './agent-state.ts';
import { lostByNamespace, namespaceHold } from './eviction-windows.ts';
import { isUnanswered, type Stage } from './inflight-eviction.ts';
import type { Look } from './look.ts';

function wantsToStay(pod: Pod): boolean {
  return !ownerWishes(pod.annotations).mayBeEvicted;
}

function rulesOf({ protect }: AgentPolicy, { namespaces }: Pick<Look, 'namespaces'>): ProtectionRules {
  const ignored = [...namespaces].filter(([, state]) => state === 'ignored').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...protect.namespaces, ...ignored]),
    optOutCeiling: protect.optOutCeiling,
    wantsToStay,
  };
}

/** Why a pod must never be chosen as it is now, `undefined` if it may be (law 1). */
export function lastingProtection(pod: Pod, policy: AgentPolicy, namespaces: Look['namespaces']): Because | undefined {
  return protectionOf(pod, rulesOf(policy, { namespaces })) ?? unknownNamespace(pod, namespaces);
}

function unknownNamespace({ namespace }: Pod, namespaces: Look['namespaces']): Because | undefined {
  if (namespaces.has(namespace)) return undefined;
  const text = `the labels of namespace ${namespace} are not known, so it may be one to leave alone`;
  return { code: 'NamespaceUnknown', text, facts: { namespace } };
}

function withoutStatistics({ facts, usage }: Candidate, policy: AgentPolicy): Because | undefined {
  if (usage !== undefined || policy.ranking.missingStats !== 'Never') return undefined;
  return { code: 'NoStatistics', text: 'there are no statistics of the pod', facts: { pod: facts.pod.name } };
}

function pauseOf({ uid }: Pod, { pauses }: AgentState, { now }: Look): Because | undefined {
  const pause = pauses.get(uid);
  return pause !== undefined && now < pause.until ? pause.because : undefined;
}

/** In the severe stage the alternative is the kernel's OOM killer, so the option yields (D-2). */
function withinRequest(candidate: Candidate, stage: Stage, { protect }: AgentPolicy): Because | undefined {
  return protect.withinRequest && stage === 'mild' ? withinRequestProtection(candidate) : undefined;
}

/** By namespace: what it has lost, and what it is asked for at this moment. */
function namespaceLosses({ past, flights }: AgentState, now: Instant): ReadonlyMap<string, number> {
  const losses = new Map(lostByNamespace(past, now));
  for (const { namespace } of flights.filter(isUnanswered)) losses.set(namespace, (losses.get(namespace) ?? 0) + 1);
  return losses;
}

function countIn(namespace: string, victims: readonly Candidate[]): number {
  return victims.reduce((count, { facts }) => (facts.pod.namespace === namespace ? count + 1 : count), 0);
}

const NOBODY: readonly Candidate[] = [];

/** Why a candidate must be passed over now; `victims` go already. */
type SpareReason = (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined;

/** The reasons to pass over a candidate as a function: laws first, then waits. */
export function ineligibility(stage: Stage, state: AgentState, look: Look, policy: AgentPolicy): SpareReason {
  const rules = rulesOf(policy, look);
  const losses = namespaceLosses(state, look.now);
  const lossOf = (namespace: string, victims: readonly Candidate[]): number =>
    (losses.get(namespace) ?? 0) + countIn(namespace, victims);
  return (candidate, victims = NOBODY) => {
    const { pod } = candidate.facts;
    return (
      protectionOf(pod, rules) ??
      unknownNamespace(pod, look.namespaces) ??
      withoutStatistics(candidate, policy) ??
      withinRequest(candidate, stage, policy) ??
      pauseOf(pod, state, look) ??
      namespaceHold(pod.namespace, lossOf(pod.namespace, victims), policy.limits)
    );
  };
}
