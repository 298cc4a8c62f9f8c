import type { Pod } from '#shared/domain/pod/pod.ts';
import { hasCriticalPriority, isMirrorOfNode } from '#shared/domain/eviction/protection.ts';
import { resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import {
  type Candidate,
  type Circumstances,
  prepareCandidate,
  type RankingFacts,
} from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { policyOrder, type RankingOrder } from '#shared/domain/ranking/ranking-order.ts';
import { isMarkedLast } from '#shared/kube/annotations/annotations.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { EvictionState } from '#agent/decide/eviction/eviction-state.ts';
import { ownerDisruptedAt } from '#agent/decide/eviction/eviction-windows.ts';
import { figureFor } from '#agent/decide/snapshot/figure-for.ts';
import type { RankingContext } from './ineligibility.ts';
import { isTerminating, type NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';
import { ownerOf } from '#shared/domain/pod/pod-owner.ts';

/** Statistics without the figure that counts are treated as missing: unknown is not zero. */
function measuredFor(signal: Signal, usage: PodUsage | undefined): PodUsage | undefined {
  return figureFor(signal, usage) === undefined ? undefined : usage;
}

/** For a pod whose sources disagree, the smaller memory figure counts. */
function supportedUsage(signal: Signal, { uid }: Pod, { usage, doubtfulPods }: NodeSnapshot): PodUsage | undefined {
  const measured = measuredFor(signal, usage.get(uid));
  const doubt = doubtfulPods.get(uid);
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
 * Pods that terminate, or are asked to, and still use more than they requested; without those that have released what
 * they used, those that the kubelet never evicts, and victims of a dry run, which stay.
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
  return candidatesOf(leaving, context, snapshot, policy).filter(({ exceedsRequest }) => exceedsRequest);
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
