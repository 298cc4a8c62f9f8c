import type { Steps } from '#shared/domain/model/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { selectsPod, sharedTerms } from '#shared/domain/pod/affinity-term.ts';
import { NO_LABELS } from '#shared/domain/preemption/filters/incoming-terms.ts';
import { interPodAffinity } from '#shared/domain/preemption/filters/inter-pod-affinity.ts';
import { nodePorts, type PodAwareFilter, type Refusal } from '#shared/domain/preemption/filters/node-filters.ts';
import { podTopologySpread } from '#shared/domain/preemption/filters/pod-topology-spread.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { matcherOf, type Arrival } from './spread-scores.ts';
import type { PassNode } from './pass-cluster.ts';

/** Why the pods of a node keep the replacement off it; `undefined` where they do not. */
export type PodAwareFit = (node: PassNode) => Refusal | undefined;

/**
 * The filters that look at other pods, for the replacement of a pod; `undefined` where none has anything to say. The old
 * pod still holds its ports and its place while it terminates; a topology spread counts it no longer.
 */
export function* podAwareFit(snapshot: ClusterSnapshot, placed: PlacedPod): Steps<PodAwareFit | undefined> {
  const { pod } = placed;
  const filters = [
    nodePorts(pod),
    yield* podTopologySpread(pod, withoutPod(snapshot, placed)),
    yield* interPodAffinity(pod, snapshot),
  ].filter((filter) => filter !== undefined);
  if (filters.length === 0) return undefined;
  return ({ entry }) => firstRefusal(filters, entry);
}

function firstRefusal(filters: readonly PodAwareFilter[], entry: PassNode['entry']): Refusal | undefined {
  for (const filter of filters) {
    const refusal = filter.open(entry).refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The snapshot as it is once a pod is gone. The original stays as it is. */
function withoutPod(snapshot: ClusterSnapshot, placed: PlacedPod): ClusterSnapshot {
  const { topologySpread } = placed.pod.spec.scheduling;
  const name = placed.pod.spec.nodeName ?? '';
  const entry = snapshot.nodes.get(name);
  if (topologySpread.length === 0 || entry === undefined) return snapshot;
  const pods = entry.occupancy.pods.filter((other) => other !== placed);
  const changed = { ...entry, occupancy: { ...entry.occupancy, pods } };
  return { ...snapshot, nodes: new Map(snapshot.nodes).set(name, changed) };
}

/**
 * A move of the same pass on which it depends where the replacement of a pod fits, or `undefined`. The filters are prepared
 * on the cluster as it is, so the later of two related moves waits for the next pass.
 */
export function relatedMove(
  { namespaces }: ClusterSnapshot,
  placed: PlacedPod,
  moves: readonly Arrival[],
): Arrival | undefined {
  const keepsApart = (one: PlacedPod, other: Pod): boolean => {
    const terms = [...one.antiAffinity, ...sharedTerms(one.pod, one.pod.spec.scheduling.podAffinity)];
    const labels = namespaces.get(other.namespace) ?? NO_LABELS;
    return terms.some((term) => selectsPod(term, other, labels));
  };
  return moves.find(
    (move) =>
      keepsApart(placed, move.placed.pod) ||
      keepsApart(move.placed, placed.pod) ||
      sharePort(placed, move.placed) ||
      isCounted(placed.pod, move.placed.pod),
  );
}

function sharePort(one: PlacedPod, other: PlacedPod): boolean {
  return one.hostPorts.some(({ port }) => other.hostPorts.some((each) => each.port === port));
}

function isCounted(pod: Pod, other: Pod): boolean {
  if (pod.namespace !== other.namespace) return false;
  const hard = pod.spec.scheduling.topologySpread.filter((each) => each.whenUnsatisfiable === 'DoNotSchedule');
  return hard.some((constraint) => matcherOf(pod, constraint)(other.labels));
}
