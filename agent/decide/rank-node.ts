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
import { policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import { ANNOTATION_EVICT, FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/wire-names.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { EvictionState } from './eviction-state.ts';
import { ownerHitAt } from './eviction-windows.ts';
import { figureFor } from './figure-for.ts';
import { isEnding, type Look } from './look.ts';
import { ownerOf } from './pod-owner.ts';

function isMarkedLast(pod: Pod): boolean {
  return pod.annotations.get(ANNOTATION_EVICT) === 'last' || pod.annotations.has(FOREIGN_PREFER_NO_EVICTION);
}

/** Statistics without the figure that counts are no statistics: unknown is not zero (law 3). */
function measuredFor(signal: Signal, usage: PodUsage | undefined): PodUsage | undefined {
  return figureFor(signal, usage) === undefined ? undefined : usage;
}

/** An owner that is to be kept away from this node was hit by whoever says so; when is not told, so it counts as now. */
function circumstances({ pod }: RankingFacts, { past }: EvictionState, { avoided, now }: Look): Circumstances {
  const owner = ownerOf(pod);
  const isAvoided = owner !== undefined && avoided.has(owner);
  return {
    isMarkedLast: isMarkedLast(pod),
    ownerDisruptedAt: ownerHitAt(past, owner) ?? (isAvoided ? now : undefined),
  };
}

/** Pods that run and are not on their way out, each as numbers for one signal, first to go first. */
export function rankNode(
  signal: Signal,
  evictions: EvictionState,
  look: Look,
  policy: AgentPolicy,
): readonly Candidate[] {
  const leaving = new Set(evictions.inflight.map(({ uid }) => uid));
  const running = look.pods.running.filter(({ pod }) => !isEnding(pod) && !leaving.has(pod.uid));
  const candidates = running.map((facts) =>
    prepareCandidate(
      facts,
      measuredFor(signal, look.usage.get(facts.pod.uid)),
      { signal, layout: policy.layout },
      circumstances(facts, evictions, look),
    ),
  );
  return rankPods(candidates, policyOrder(policy.ranking, resourceOf(signal)));
}
