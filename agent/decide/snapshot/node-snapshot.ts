import { hasEnded } from '#shared/domain/pod/has-ended.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { Signal, StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { NodeView } from './node-view.ts';
import type { PodPressureByUid } from './pod-pressure.ts';

/** A pod that the kubelet evicted for node pressure, and what the node was short of. */
export interface KubeletEviction {
  readonly uid: string;
  readonly resource: StarvedResource;
}

/** Every pod bound to this node, indexed once per change instead of once per pass. */
export interface PodsOnNode {
  /** Without terminated pods. */
  readonly running: readonly RankingFacts[];
  readonly aliveByUid: ReadonlyMap<string, Pod>;
  /** Deleted but not yet terminated. */
  readonly terminating: readonly Pod[];
  readonly endedByKubelet: readonly KubeletEviction[];
  /** Errors of pods that cannot be read and are therefore no candidates, one sentence each. */
  readonly unreadable: readonly string[];
}

/** A pod for which another source contradicts its cgroup. */
export interface DoubtfulPod {
  /** Usage according to the other source. */
  readonly theirsBytes: number;
  readonly because: Because;
}

/** By UID. */
export type DoubtfulPods = ReadonlyMap<string, DoubtfulPod>;

/** Whether a namespace has opted out (`plimsoll.dev/ignore`). */
export type NamespaceState = 'open' | 'ignored';

/** All inputs of one decision. Times are monotonic milliseconds. */
export interface NodeSnapshot extends NodeView {
  readonly now: Instant;
  readonly usage: UsageByUid;
  readonly podPressures: PodPressureByUid;
  readonly pods: PodsOnNode;
  /** Namespaces whose labels are known; pods of other namespaces are not evicted. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
  /** Owners, as `namespace/Kind/name`, with an avoid entry for this node. */
  readonly avoided: ReadonlySet<string>;
  /** Signals that must not evict now, because their sources contradict each other. */
  readonly doubts: ReadonlyMap<Signal, Because>;
  /** Pods whose figures another source contradicts; the node's figures are not affected. */
  readonly doubtfulPods: DoubtfulPods;
  /** Whether the kubelet, which carries out evictions, has stopped posting node status. */
  readonly isKubeletSilent: boolean;
  /** Gates of the whole agent that are closed: warming up, no contact with the API server. */
  readonly closedGates: readonly Because[];
}

/** The pod condition that names the cause of a disruption. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

/** Whether the pod is deleted and has not terminated yet. */
export function isTerminating(pod: Pod): boolean {
  return pod.deletion !== undefined && !hasEnded(pod);
}

function hasDisruption(pod: Pod, reason: string): boolean {
  return pod.status.conditions.some(
    (condition) => condition.type === DISRUPTION_TARGET && condition.status === 'True' && condition.reason === reason,
  );
}

/** Pods that are no candidates: evicted by the kubelet, or unreadable. */
export type OtherPods = Pick<PodsOnNode, 'endedByKubelet' | 'unreadable'>;

const NO_OTHERS: OtherPods = { endedByKubelet: [], unreadable: [] };

/** Indexes the node's pods for decisions; independent of time. */
export function indexPods(facts: readonly RankingFacts[], others: OtherPods = NO_OTHERS): PodsOnNode {
  const running = facts.filter(({ pod }) => !hasEnded(pod));
  return {
    running,
    aliveByUid: new Map(running.map(({ pod }) => [pod.uid, pod])),
    terminating: running.map(({ pod }) => pod).filter(isTerminating),
    ...others,
  };
}

/** Whether the pod terminates because of the Eviction API. */
export function isBeingEvicted(pod: Pod): boolean {
  return isTerminating(pod) && hasDisruption(pod, 'EvictionByEvictionAPI');
}
