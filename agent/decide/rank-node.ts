import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { protectionOf, type ProtectionRules } from '#shared/domain/eviction/protection.ts';
import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import { type Candidate, prepareCandidate, type RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import {
  ANNOTATION_EVICT,
  FOREIGN_PREFER_NO_EVICTION,
  NAMESPACE_NODE,
  NAMESPACE_SYSTEM,
} from '#shared/kube/wire-names.ts';
import { withinRequestProtection } from '#shared/domain/eviction/within-request.ts';
import type { AgentState } from './agent-state.ts';
import { namespaceHold, ownerHitAt } from './eviction-windows.ts';
import type { Stage } from './flight.ts';
import { isEnding, type Look } from './look.ts';
import { controllerOf } from './pod-owner.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';

const OWN_NAMESPACES = ['kube-system', NAMESPACE_SYSTEM, NAMESPACE_NODE];

function isMarkedLast(pod: Pod): boolean {
  return pod.annotations.get(ANNOTATION_EVICT) === 'last' || pod.annotations.has(FOREIGN_PREFER_NO_EVICTION);
}

function wantsToStay(pod: Pod): boolean {
  return pod.annotations.get(ANNOTATION_EVICT) === 'never';
}

type Figure = (usage: PodUsage) => number | undefined;

/** The figure that a ranking by this resource cannot do without. */
const FIGURES: Readonly<Record<StarvedResource, Figure>> = {
  memory: ({ memory }) => memory?.workingSetBytes,
  pids: ({ processCount }) => processCount,
  cpu: ({ cpuNanoCores }) => cpuNanoCores,
  io: ({ ioBytesPerSecond }) => ioBytesPerSecond,
  'ephemeral-storage': ({ ephemeralStorageBytes }) => ephemeralStorageBytes,
  inodes: ({ ephemeralStorageBytes }) => ephemeralStorageBytes,
};

/** Statistics without the figure that counts are no statistics: unknown is not zero (law 3). */
function measuredFor(signal: Signal, usage: PodUsage | undefined): PodUsage | undefined {
  return figureFor(signal, usage) === undefined ? undefined : usage;
}

/** What a pod uses of what a signal watches; `undefined` where that was not measured. */
export function figureFor(signal: Signal, usage: PodUsage | undefined): number | undefined {
  return usage === undefined ? undefined : FIGURES[resourceOf(signal)](usage);
}

function circumstances({ pod }: RankingFacts, state: AgentState) {
  return { isMarkedLast: isMarkedLast(pod), ownerDisruptedAt: ownerHitAt(state.past, controllerOf(pod)?.uid) };
}

/** Pods that run and are not on their way out, each as numbers for one signal, first to go first. */
export function rankNode(signal: Signal, state: AgentState, look: Look, policy: AgentPolicy): readonly Candidate[] {
  const leaving = new Set(state.flights.map(({ uid }) => uid));
  const running = look.pods.running.filter(({ pod }) => !isEnding(pod) && !leaving.has(pod.uid));
  const candidates = running.map((facts) =>
    prepareCandidate(
      facts,
      measuredFor(signal, look.usage.get(facts.pod.uid)),
      { signal, layout: policy.layout },
      circumstances(facts, state),
    ),
  );
  return rankPods(candidates, policyOrder(policy.ranking, resourceOf(signal)));
}

function rulesOf({ protect }: AgentPolicy, { namespaces }: Look): ProtectionRules {
  const ignored = [...namespaces].filter(([, state]) => state === 'ignored').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...OWN_NAMESPACES, ...protect.namespaces, ...ignored]),
    optOutCeiling: protect.optOutCeiling,
    wantsToStay,
  };
}

function unknownNamespace(pod: Pod, { namespaces }: Look): Because | undefined {
  if (namespaces.has(pod.namespace)) return undefined;
  const text = `the labels of namespace ${pod.namespace} are not known, so it may be one to leave alone`;
  return { code: 'NamespaceUnknown', text, facts: { namespace: pod.namespace } };
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

/** Why a candidate must be passed over now, as a function: laws first, then waits. */
export function sparing(
  stage: Stage,
  state: AgentState,
  look: Look,
  policy: AgentPolicy,
): (candidate: Candidate) => Because | undefined {
  const rules = rulesOf(policy, look);
  return (candidate) => {
    const { pod } = candidate.facts;
    return (
      protectionOf(pod, rules) ??
      unknownNamespace(pod, look) ??
      withoutStatistics(candidate, policy) ??
      withinRequest(candidate, stage, policy) ??
      pauseOf(pod, state, look) ??
      namespaceHold(state.past, policy.limits, pod.namespace, look.now)
    );
  };
}
