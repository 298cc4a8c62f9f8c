import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { NodeView } from './node-view.ts';
import type { PodPressureByUid } from './pod-pressure.ts';

/** Every pod bound to this node, looked through once per change instead of once per pass. */
export interface PodsOnNode {
  /** Ended ones are not in it. */
  readonly running: readonly RankingFacts[];
  readonly aliveByUid: ReadonlyMap<string, Pod>;
  /** Asked to go and not gone yet. */
  readonly terminating: readonly Pod[];
  /** UIDs of those that the kubelet ended for node pressure, or is about to. */
  readonly endedByKubelet: readonly string[];
  /** What cannot be read of pods that are therefore no candidates, one sentence each. */
  readonly unreadable: readonly string[];
}

/** A pod of which another source tells something else than its group. */
export interface DoubtfulPod {
  /** What the other source says it uses. */
  readonly theirsBytes: number;
  readonly because: Because;
}

/** By UID. */
export type DoubtfulPods = ReadonlyMap<string, DoubtfulPod>;

/** Whether a namespace is to be left alone. */
export type NamespaceState = 'open' | 'ignored';

/** Everything that one decision sees. Times are monotonic milliseconds. */
export interface NodeSnapshot extends NodeView {
  readonly now: Instant;
  readonly usage: UsageByUid;
  readonly podPressures: PodPressureByUid;
  readonly pods: PodsOnNode;
  /** Namespaces whose labels are known; one that is not here may not lose a pod. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
  /** Owners, as `namespace/Kind/name`, whose pods are to be kept away from this node for now. */
  readonly avoided: ReadonlySet<string>;
  /** Signals that must not evict now, since their sources contradict each other. */
  readonly doubts: ReadonlyMap<Signal, Because>;
  /** Pods whose figures are contradicted; the node's are not touched by that. */
  readonly doubtfulPods: DoubtfulPods;
  /** Whether Kubernetes has not heard of the kubelet for a while, which carries evictions out. */
  readonly isKubeletSilent: boolean;
  /** What keeps the whole agent from acting: warming up, the API server is out of reach. */
  readonly closedGates: readonly Because[];
}

/** The condition of a pod that says who ends it. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
/** The reason where the kubelet ends it for node pressure. */
export const DISRUPTION_BY_KUBELET = 'TerminationByKubelet';

const ENDED = new Set(['Succeeded', 'Failed']);

/** Whether all its containers have ended for good. */
function hasEnded(pod: Pod): boolean {
  return ENDED.has(pod.status.phase ?? '');
}

/** Whether it was asked to go and has not gone. */
export function isTerminating(pod: Pod): boolean {
  return pod.deletion !== undefined && !hasEnded(pod);
}

function hasDisruption(pod: Pod, reason: string): boolean {
  return pod.status.conditions.some(
    (condition) => condition.type === DISRUPTION_TARGET && condition.status === 'True' && condition.reason === reason,
  );
}

/** What is known of pods that are no candidates any more, or cannot be read. */
export type OtherPods = Pick<PodsOnNode, 'endedByKubelet' | 'unreadable'>;

const NO_OTHERS: OtherPods = { endedByKubelet: [], unreadable: [] };

/** Sorts the node's pods by what decisions ask of them; nothing of it depends on time. */
export function indexPods(facts: readonly RankingFacts[], others: OtherPods = NO_OTHERS): PodsOnNode {
  const running = facts.filter(({ pod }) => !hasEnded(pod));
  return {
    running,
    aliveByUid: new Map(running.map(({ pod }) => [pod.uid, pod])),
    terminating: running.map(({ pod }) => pod).filter(isTerminating),
    endedByKubelet: [
      ...facts.filter(({ pod }) => wasEndedByKubelet(pod)).map(({ pod }) => pod.uid),
      ...others.endedByKubelet,
    ],
    unreadable: others.unreadable,
  };
}

/** Whether it ends because somebody used the Eviction API. */
export function isBeingEvicted(pod: Pod): boolean {
  return isTerminating(pod) && hasDisruption(pod, 'EvictionByEvictionAPI');
}

/** Whether the kubelet ended it for node pressure. */
function wasEndedByKubelet(pod: Pod): boolean {
  return hasDisruption(pod, DISRUPTION_BY_KUBELET);
}
