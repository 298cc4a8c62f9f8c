import { finish } from '#shared/domain/model/steps.ts';
import { selectsPod } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  type Incoming,
  NO_LABELS,
  prepareIncoming,
  selectsOther,
} from '#shared/domain/preemption/filters/incoming-terms.ts';

/**
 * The pod on another node whose company keeps the incoming pod off this one: anti-affinity of either side reaches over a
 * whole domain, and no pod is removed from a node to make room on another. For explanations. Seed mechanism S1-21.
 */
export function findObstacle(snapshot: ClusterSnapshot, pod: Pod, node: Node): PlacedPod | undefined {
  const incoming = finish(prepareIncoming(pod, snapshot));
  for (const other of snapshot.nodes.values()) {
    if (other.node.name === node.name) continue;
    const found = other.occupancy.pods.find((placed) => keepsApart(incoming, placed, [node, other.node]));
    if (found !== undefined) return found;
  }
  return undefined;
}

function keepsApart(incoming: Incoming, placed: PlacedPod, nodes: readonly [Node, Node]): boolean {
  const isUnwanted = incoming.antiAffinity.some(
    (term) => isSameDomain(term.topologyKey, nodes) && selectsOther(incoming, term, placed.pod),
  );
  const labels = incoming.namespaces.get(incoming.pod.namespace) ?? NO_LABELS;
  const isUnwilling = placed.antiAffinity.some(
    (term) => isSameDomain(term.topologyKey, nodes) && selectsPod(term, incoming.pod, labels),
  );
  return isUnwanted || isUnwilling;
}

function isSameDomain(topologyKey: string, [here, there]: readonly [Node, Node]): boolean {
  const domain = here.labels.get(topologyKey);
  return domain !== undefined && domain === there.labels.get(topologyKey);
}
