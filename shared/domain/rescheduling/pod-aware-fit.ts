import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { selectsPod, sharedTerms } from '#shared/domain/pod/affinity-term.ts';
import { interPodAffinity } from '#shared/domain/placement/filters/inter-pod-affinity.ts';
import { nodePorts, type PodAwareFilter, type FilterRefusal } from '#shared/domain/placement/filters/node-filters.ts';
import { hardConstraints, podTopologySpread } from '#shared/domain/placement/filters/pod-topology-spread.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podsIn } from '#shared/domain/snapshot/snapshot-pods.ts';
import { matcherOf, type Arrival } from './spread-scores.ts';
import type { PassNode } from './pass-cluster.ts';

/** Why the pods of a node keep the replacement off it; `undefined` if they do not. */
export type PodAwareFit = (node: PassNode) => FilterRefusal | undefined;

/** The part of a cluster that rules about pods of one namespace consider: all nodes, with the pods of the namespace. */
export type NamespaceView = (namespace: string) => Steps<ClusterSnapshot>;

/** Rules count pods; leaving out the pods of other namespaces takes only part of the time. */
export function createNamespaceViews(snapshot: ClusterSnapshot): NamespaceView {
  const known = new Map<string, ClusterSnapshot>();
  let deserted: ReadonlyMap<string, NodeEntry> | undefined;
  return function* (namespace) {
    deserted ??= yield* withoutPods(snapshot);
    const view = known.get(namespace) ?? (yield* viewOf({ ...snapshot, nodes: new Map(deserted) }, namespace));
    known.set(namespace, view);
    return view;
  };
}

function* withoutPods({ nodes }: ClusterSnapshot): Steps<ReadonlyMap<string, NodeEntry>> {
  return new Map(yield* collectInSteps(nodes, ([name, entry]) => [name, withPods(entry, [])] as const));
}

function withPods(entry: NodeEntry, pods: PlacedPod[]): NodeEntry {
  return { ...entry, occupancy: { ...entry.occupancy, pods } };
}

const PODS_PER_STEP = 500;

/** Puts the pods of a namespace on nodes that have none; nominated pods are on no node. */
function* viewOf(view: ClusterSnapshot, namespace: string): Steps<ClusterSnapshot> {
  const byNode = new Map<string, PlacedPod[]>();
  let looked = 0;
  for (const placed of podsIn(view, namespace)) {
    addTo(byNode, placed);
    if ((looked += 1) % PODS_PER_STEP === 0) yield;
  }
  for (const [name, pods] of byNode) {
    const entry = view.nodes.get(name);
    if (entry !== undefined) view.nodes.set(name, withPods(entry, pods));
  }
  return view;
}

function addTo(byNode: Map<string, PlacedPod[]>, placed: PlacedPod): void {
  const name = placed.pod.spec.nodeName ?? '';
  const pods = byNode.get(name);
  if (pods === undefined) byNode.set(name, [placed]);
  else pods.push(placed);
}

/** Whether all terms of a pod select only pods of its own namespace. */
function staysInNamespace({ namespace, spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.scheduling;
  return [...podAffinity, ...podAntiAffinity].every(
    (term) => term.namespaceSelector === undefined && term.namespaces.every((name) => name === namespace),
  );
}

/**
 * The filters that depend on other pods, for the replacement of a pod; `undefined` if none applies. The old pod still
 * holds its ports and its slot while it terminates; topology spread no longer counts it.
 */
export function* podAwareFit(
  snapshot: ClusterSnapshot,
  views: NamespaceView,
  placed: PlacedPod,
): Steps<PodAwareFit | undefined> {
  const { pod } = placed;
  const { podAffinity, podAntiAffinity, topologySpread } = pod.spec.scheduling;
  const hasTerms = podAffinity.length + podAntiAffinity.length > 0;
  const isSpread = topologySpread.length > 0;
  const filters = [
    nodePorts(pod),
    isSpread ? yield* podTopologySpread(pod, withoutPod(yield* views(pod.namespace), placed)) : undefined,
    yield* interPodAffinity(pod, hasTerms && staysInNamespace(pod) ? yield* views(pod.namespace) : snapshot),
  ].filter((filter) => filter !== undefined);
  if (filters.length === 0) return undefined;
  return ({ entry }) => firstRefusal(filters, entry);
}

function firstRefusal(filters: readonly PodAwareFilter[], entry: PassNode['entry']): FilterRefusal | undefined {
  for (const filter of filters) {
    const refusal = filter.open(entry).refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The snapshot without a pod. The original is not changed. */
function withoutPod(snapshot: ClusterSnapshot, placed: PlacedPod): ClusterSnapshot {
  const name = placed.pod.spec.nodeName ?? '';
  const entry = snapshot.nodes.get(name);
  if (entry === undefined) return snapshot;
  const pods = entry.occupancy.pods.filter((other) => other !== placed);
  return { ...snapshot, nodes: new Map(snapshot.nodes).set(name, withPods(entry, pods)) };
}

/**
 * A move of the same pass that affects where the replacement of a pod fits, or `undefined`. The filters are prepared on
 * the current cluster, so the later of two related moves waits for the next pass.
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
  return hardConstraints(pod.spec.scheduling).some((constraint) => matcherOf(pod, constraint)(other.labels));
}
