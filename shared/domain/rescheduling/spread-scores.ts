import { labelsAsRequirements, prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import type { Pod, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { toleratesNode, wantedNodes } from '#shared/domain/placement/filters/node-filters.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { nodeOf, type PassCluster, type PassNode } from './pass-cluster.ts';
import type { MovablePod } from './running-pod.ts';

/** One soft constraint, with the nodes of the pods that it counts. */
interface SoftConstraint {
  readonly key: string;
  readonly maxSkew: number;
  /** By node index, one entry a pod. */
  readonly counted: readonly PassNode[];
}

const HOSTNAME = 'kubernetes.io/hostname';
/** `plugins/podtopologyspread/plugin.go` systemDefaultConstraints. */
const DEFAULTS = [
  { topologyKey: HOSTNAME, maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
] as const;

/**
 * How evenly a node would spread the replacement, as raw scores by node index; `undefined` if the pod has no soft
 * constraint. For a pod without constraints, kube-scheduler spreads what a Service or controller selects; this assumes
 * the pods of the same controller. `plugins/podtopologyspread/scoring.go`.
 */
export function spreadScores(
  cluster: PassCluster,
  pod: MovablePod,
  feasible: readonly PassNode[],
  arriving: readonly Arrival[],
): Float64Array | undefined {
  const own = pod.placed.pod.spec.scheduling.topologySpread;
  const constraints =
    own.length === 0
      ? cluster.spreads(pod.owner.key.kind)
        ? defaults(cluster, pod, arriving)
        : []
      : softOf(cluster, pod.placed.pod, arriving);
  if (constraints.length === 0) return undefined;
  const raw = new Float64Array(cluster.nodes.length);
  const soft = own.filter(isSoft);
  const scored = feasible.filter((node) => hasKeys(node, soft));
  for (const { index } of feasible) raw[index] = -1;
  for (const { index } of scored) raw[index] = 0;
  for (const constraint of constraints) addScores(raw, constraint, scored);
  for (const { index } of scored) raw[index] = Math.round(raw[index] as number);
  return raw;
}

/** A replacement that an earlier move of the pass places. */
export interface Arrival {
  readonly placed: PlacedPod;
  readonly target: PassNode;
}

function defaults(
  cluster: PassCluster,
  { owner, placed }: MovablePod,
  arriving: readonly Arrival[],
): readonly SoftConstraint[] {
  const isWanted = wantedNodes(placed.pod);
  const present = owner.pods.filter((other) => other !== placed && other.pod.deletion === undefined);
  const moved = arriving.filter((each) => owner.pods.includes(each.placed));
  const leaving = new Set(moved.map((each) => each.placed));
  const counted = [
    ...present.filter((other) => !leaving.has(other)).map((other) => nodeOf(cluster, other)),
    ...moved.map(({ target }) => target),
  ].filter(({ entry }) => isWanted(entry.node));
  return DEFAULTS.map(({ topologyKey: key, maxSkew }) => ({ key, maxSkew, counted }));
}

function softOf(cluster: PassCluster, pod: Pod, arriving: readonly Arrival[]): readonly SoftConstraint[] {
  const soft = pod.spec.scheduling.topologySpread.filter(isSoft);
  return soft.map((each) => ({
    key: each.topologyKey,
    maxSkew: each.maxSkew,
    counted: countedBy(cluster, pod, each, arriving).filter(includedBy(pod, each, soft)),
  }));
}

/** Computed once per node. `plugins/podtopologyspread/common.go` matchNodeInclusionPolicies. */
function includedBy(
  pod: Pod,
  { nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpreadConstraint,
  all: readonly TopologySpreadConstraint[],
): (node: PassNode) => boolean {
  const isWanted = nodeAffinityPolicy === 'Ignore' ? () => true : wantedNodes(pod);
  const { tolerations } = pod.spec.scheduling;
  const isTolerated = ({ taints }: Node): boolean => nodeTaintsPolicy !== 'Honor' || toleratesNode(tolerations, taints);
  return memoize((each) => hasKeys(each, all) && isWanted(each.entry.node) && isTolerated(each.entry.node));
}

function countedBy(
  cluster: PassCluster,
  pod: Pod,
  constraint: TopologySpreadConstraint,
  arriving: readonly Arrival[],
): readonly PassNode[] {
  const matches = matcherOf(pod, constraint);
  const leaving = new Set([pod, ...arriving.map(({ placed }) => placed.pod)]);
  const found: PassNode[] = [];
  for (const other of cluster.owners.podsIn(pod.namespace)) {
    const node = cluster.byName.get(other.pod.spec.nodeName ?? '');
    if (node === undefined || other.pod.deletion !== undefined || leaving.has(other.pod)) continue;
    if (matches(other.pod.labels)) found.push(node);
  }
  const moved = arriving.filter(
    ({ placed: { pod: other } }) => other.namespace === pod.namespace && matches(other.labels),
  );
  return [...found, ...moved.map(({ target }) => target)];
}

/**
 * Which labels a constraint of a pod counts; an empty selector counts none. `plugins/podtopologyspread/common.go`
 * countPodsMatchSelector.
 */
export function matcherOf(pod: Pod, { labelSelector, matchLabelKeys }: TopologySpreadConstraint) {
  if (labelSelector === undefined) return () => false;
  const own = new Map([...pod.labels].filter(([key]) => matchLabelKeys.includes(key)));
  const { matchLabels, matchExpressions } = labelSelector;
  const all = { matchLabels, matchExpressions: [...matchExpressions, ...labelsAsRequirements(own)] };
  const { isEmpty, matches } = prepareSelector(all);
  return isEmpty ? () => false : matches;
}

function isSoft({ whenUnsatisfiable }: TopologySpreadConstraint): boolean {
  return whenUnsatisfiable === 'ScheduleAnyway';
}

function hasKeys({ entry }: PassNode, constraints: readonly TopologySpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => entry.node.labels.has(topologyKey));
}

function addScores(raw: Float64Array, { key, maxSkew, counted }: SoftConstraint, scored: readonly PassNode[]): void {
  const domains = new Set<string>();
  const counts = new Map<string, number>();
  const valueOf = ({ entry, name }: PassNode): string | undefined =>
    key === HOSTNAME ? name : entry.node.labels.get(key);
  for (const node of scored) domains.add(valueOf(node) ?? '');
  for (const node of counted) {
    const value = valueOf(node) ?? '';
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const weight = Math.log((key === HOSTNAME ? scored.length : domains.size) + 2);
  for (const node of scored) {
    const value = valueOf(node);
    if (value !== undefined)
      raw[node.index] = (raw[node.index] as number) + (counts.get(value) ?? 0) * weight + maxSkew - 1;
  }
}
