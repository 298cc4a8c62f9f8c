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
import { isUnanswered, type Stage } from './flight.ts';
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

/** What a namespace has lost, what it is asked for at this moment, and who of it has just been chosen. */
function namespaceLosses(
  namespace: string,
  victims: readonly Candidate[],
  { past, flights }: AgentState,
  now: Instant,
) {
  const asked = flights.filter((flight) => flight.namespace === namespace && isUnanswered(flight));
  const chosen = victims.filter(({ facts }) => facts.pod.namespace === namespace);
  return lostByNamespace(past, namespace, now) + asked.length + chosen.length;
}

/** Why a candidate must be passed over now; `victims` go already. */
export type SpareReason = (candidate: Candidate, victims?: readonly Candidate[]) => Because | undefined;

/** The reasons to pass over a candidate as a function: laws first, then waits. */
export function sparing(stage: Stage, state: AgentState, look: Look, policy: AgentPolicy): SpareReason {
  const rules = rulesOf(policy, look);
  return (candidate, victims = []) => {
    const { pod } = candidate.facts;
    return (
      protectionOf(pod, rules) ??
      unknownNamespace(pod, look.namespaces) ??
      withoutStatistics(candidate, policy) ??
      withinRequest(candidate, stage, policy) ??
      pauseOf(pod, state, look) ??
      namespaceHold(pod.namespace, namespaceLosses(pod.namespace, victims, state, look.now), policy.limits)
    );
  };
}
