import type { Pod } from '#shared/domain/model/pod.ts';
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
import { ANNOTATION_EVICT, FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/wire-names.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { EvictionState } from '#agent/decide/eviction/eviction-state.ts';
import { ownerDisruptedAt } from '#agent/decide/eviction/eviction-windows.ts';
import { figureFor } from '#agent/decide/snapshot/figure-for.ts';
import type { RankingContext } from './ineligibility.ts';
import { isTerminating, type NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';
import { ownerOf } from '#agent/decide/snapshot/pod-owner.ts';

/** A wish counts up to the ceiling that holds for opting out (law 1). */
function isMarkedLast({ annotations, spec }: Pod, { protect }: AgentPolicy): boolean {
  const wishes = annotations.get(ANNOTATION_EVICT) === 'last' || annotations.has(FOREIGN_PREFER_NO_EVICTION);
  return wishes && (spec.priority ?? 0) <= protect.optOutCeiling;
}

/** Statistics without the figure that counts are no statistics: unknown is not zero (law 3). */
function measuredFor(signal: Signal, usage: PodUsage | undefined): PodUsage | undefined {
  return figureFor(signal, usage) === undefined ? undefined : usage;
}

/** Of a pod whose memory is in doubt only that much counts which both sources support. */
function supportedUsage(signal: Signal, { uid }: Pod, { usage, doubtfulPods }: NodeSnapshot): PodUsage | undefined {
  const measured = measuredFor(signal, usage.get(uid));
  const doubt = doubtfulPods.get(uid);
  if (measured?.memory?.workingSetBytes === undefined || doubt === undefined) return measured;
  const workingSetBytes = Math.min(measured.memory.workingSetBytes, doubt.theirsBytes);
  return { ...measured, memory: { ...measured.memory, workingSetBytes } };
}

/** An owner that is to be kept away from this node was hit by whoever says so; when is not told, so it counts as now. */
function circumstances(
  { pod }: RankingFacts,
  { past }: EvictionState,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): Circumstances {
  const owner = ownerOf(pod);
  const isAvoided = owner !== undefined && snapshot.avoided.has(owner);
  return {
    isMarkedLast: isMarkedLast(pod, policy),
    ownerDisruptedAt: ownerDisruptedAt(past, owner) ?? (isAvoided ? snapshot.now : undefined),
  };
}

/** In the severe stage no wish to go last counts: the pod that took the memory may be the one that wishes it. */
export function orderFor(
  { signal, stage }: Pick<RankingContext, 'signal' | 'stage'>,
  { ranking }: AgentPolicy,
): RankingOrder {
  return policyOrder(ranking, resourceOf(signal), stage === 'severe' ? 'ignored' : 'honoured');
}

/** Pods that run and are not on their way out, each as numbers for one signal, first to go first. */
export function rankNode(context: RankingContext, snapshot: NodeSnapshot, policy: AgentPolicy): readonly Candidate[] {
  const { signal, evictions } = context;
  const leaving = new Set(evictions.inflight.map(({ uid }) => uid));
  const running = snapshot.pods.running.filter(({ pod }) => !isTerminating(pod) && !leaving.has(pod.uid));
  const candidates = running.map((facts) =>
    prepareCandidate(
      facts,
      supportedUsage(signal, facts.pod, snapshot),
      { signal, layout: policy.layout },
      circumstances(facts, evictions, snapshot, policy),
    ),
  );
  return rankPods(candidates, orderFor(context, policy));
}
