import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import type { Node, NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { namedNodes, type FilterRefusal } from '#shared/domain/placement/filters/node-filters.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { selectsPod } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { type Incoming, prepareIncoming, selectsOther } from '#shared/domain/placement/filters/incoming-terms.ts';
import type { PrefilterState } from './prefilter-state.ts';
import { openTrial, refusalIn } from './trial.ts';

/** The filter phase of one scheduling attempt. */
type Examination =
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | {
      readonly kind: 'fitsNowhere';
      /** Every node. */
      readonly examined: readonly Examined[];
      /** Kubernetes' text. */
      readonly text: string;
    };

/** A node and why the pod does not fit there; without a refusal the node was ruled out before it was examined. */
export interface Examined {
  readonly entry: NodeEntry;
  readonly refusal: FilterRefusal | undefined;
}

/**
 * Tries every node, the nominated one first: if that fits, no other is examined. Affinity to nodes by name restricts
 * the search to those. `pkg/scheduler/schedule_one.go` findNodesThatFitPod.
 */
export function examineNodes(state: PrefilterState): Examination {
  const { nodes } = state.snapshot;
  if (nodes.size === 0) return { kind: 'fitsNowhere', examined: [], text: 'no nodes available to schedule pods' };
  const names = namedNodes(state.pod);
  if (names?.size === 0) return conflict(nodes);
  const nominated = nodes.get(state.pod.status.nominatedNodeName ?? '');
  const nominatedRefusal = nominated && refusalOn(state, nominated);
  if (nominated !== undefined && nominatedRefusal === undefined) return fits([nominated.node.name]);
  const isLookedAt = (entry: NodeEntry): boolean => names?.has(entry.node.name) !== false || entry === nominated;
  return examine(state, isLookedAt, nominatedRefusal);
}

function examine(
  state: PrefilterState,
  isLookedAt: (entry: NodeEntry) => boolean,
  nominatedRefusal: FilterRefusal | undefined,
): Examination {
  const feasible: string[] = [];
  const examined: Examined[] = [];
  for (const entry of state.snapshot.nodes.values()) {
    const isRuledOut = !isLookedAt(entry);
    const refusal = isRuledOut ? undefined : refusalOn(state, entry);
    if (isRuledOut || refusal !== undefined) examined.push({ entry, refusal });
    else feasible.push(entry.node.name);
  }
  return feasible.length > 0
    ? fits(feasible)
    : { kind: 'fitsNowhere', examined, text: textOf(examined, nominatedRefusal) };
}

function textOf(examined: readonly Examined[], nominatedRefusal: FilterRefusal | undefined): string {
  const counts: ReasonCounts = new Map();
  const ruledOut = [ruledOutReason(nominatedRefusal)];
  for (const { refusal } of examined) countReasons(counts, refusal?.reasons ?? ruledOut);
  return reasonsText(examined.length, counts);
}

/**
 * Kubernetes also names the filter that refused the nominated node, because it tries that node before it rules out the
 * others.
 */
function ruledOutReason(nominatedRefusal: FilterRefusal | undefined): string {
  const filters = new Set(['NodeAffinity', nominatedRefusal?.filter ?? 'NodeAffinity']);
  return `node(s) didn't satisfy plugin(s) [${[...filters].sort().join(' ')}]`;
}

function conflict(nodes: ReadonlyMap<string, NodeEntry>): Examination {
  const examined = Array.from(nodes.values(), (entry) => ({ entry, refusal: undefined }));
  return { kind: 'fitsNowhere', examined, text: unavailableText(nodes.size, 'pod affinity terms conflict') };
}

function fits(nodes: readonly string[]): Examination {
  return { kind: 'fits', nodes };
}

/** Why a pod does not fit on a node as it stands; `undefined` if it fits. The first filter that fails decides. `pkg/scheduler/framework/runtime/framework.go` RunFilterPlugins. */
export function refusalOn(state: PrefilterState, entry: NodeEntry): FilterRefusal | undefined {
  for (const filter of state.nodeFilters) {
    const refusal = filter(entry);
    if (refusal !== undefined) return refusal;
  }
  return refusalIn(openTrial(state, entry));
}

/** On how many nodes each reason holds. */
export type ReasonCounts = Map<string, number>;

/** Counts the reasons of one more node. */
export function countReasons(counts: ReasonCounts, reasons: readonly string[]): void {
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

/** `0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.` `pkg/scheduler/framework/types.go` FitError. */
export function reasonsText(nodeCount: number, counts: ReasonCounts): string {
  const parts = Array.from(counts, ([reason, nodes]) => `${nodes} ${reason}`);
  return unavailableText(nodeCount, parts.sort().join(', '));
}

/** The same frame around a text that applies to the pod as a whole. */
function unavailableText(nodeCount: number, text: string): string {
  return `0/${nodeCount} nodes are available: ${text}.`;
}

/**
 * The pod on another node that keeps the incoming pod off this one: anti-affinity of either side covers a whole domain,
 * and no pod is removed from a node to make room on another. For explanations. Seed mechanism S1-21.
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
