import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { labelsAsRequirements, prepareSelector, type Selector } from '#shared/domain/labels/label-selector.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import type { PodAwareFilter, FilterState } from './filter.ts';
import { wantedNodes } from './node-affinity.ts';
import type { Refusal } from './refusal.ts';
import { toleratesNode } from './taint-toleration.ts';

const SKEWED: Refusal = {
  filter: 'PodTopologySpread',
  reasons: ["node(s) didn't match pod topology spread constraints"],
  isResolvable: true,
};

const UNLABELLED: Refusal = {
  filter: 'PodTopologySpread',
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  isResolvable: false,
};

/** More than any count of pods: the least of no domains. */
const NO_DOMAIN = 2 ** 31 - 1;

/** A hard constraint, ready to be asked, with the matching pods of each domain. */
interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: Selector;
  readonly isCounted: (node: Node) => boolean;
  /** 1 where the incoming pod matches itself. */
  readonly self: number;
  readonly counts: Map<string, number>;
}

/** A constraint and its two least filled domains: as a trial changes one domain only, one of them stays the least. */
interface Spread extends Constraint {
  readonly least: readonly Domain[];
}

type Domain = readonly [name: string, count: number];

/** Matching pods must stay evenly spread over the domains of each hard constraint. `plugins/podtopologyspread/filtering.go`. */
export function podTopologySpread(pod: Pod, snapshot: ClusterSnapshot): PodAwareFilter | undefined {
  const hard = pod.spec.scheduling.topologySpread.filter((one) => one.whenUnsatisfiable === 'DoNotSchedule');
  if (hard.length === 0) return undefined;
  const constraints = hard.map((one) => prepareConstraint(pod, one));
  for (const entry of snapshot.nodes.values()) countNode(constraints, pod, entry);
  const spreads = constraints.map((constraint) => ({ ...constraint, least: leastFilled(constraint.counts) }));
  return { open: (entry) => openState(spreads, pod, entry) };
}

/** `plugins/podtopologyspread/common.go` filterTopologySpreadConstraints. */
function prepareConstraint(pod: Pod, constraint: TopologySpreadConstraint): Constraint {
  const selector = prepareSelector(withMatchLabels(pod, constraint));
  return {
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selector,
    isCounted: countedNodes(pod, constraint),
    self: selector.matches(pod.labels) ? 1 : 0,
    counts: new Map(),
  };
}

/** The selector, and the pod's own values of the match-label keys. */
function withMatchLabels(pod: Pod, { labelSelector, matchLabelKeys }: TopologySpreadConstraint) {
  if (labelSelector === undefined) return undefined;
  const own = new Map([...pod.labels].filter(([key]) => matchLabelKeys.includes(key)));
  return {
    matchLabels: labelSelector.matchLabels,
    matchExpressions: [...labelSelector.matchExpressions, ...labelsAsRequirements(own)],
  };
}

/** Which nodes count as places of a domain. `plugins/podtopologyspread/common.go` matchNodeInclusionPolicies. */
function countedNodes(pod: Pod, constraint: TopologySpreadConstraint): (node: Node) => boolean {
  const isWanted = wantedNodes(pod);
  const honorsAffinity = (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor';
  const honorsTaints = constraint.nodeTaintsPolicy === 'Honor';
  return (node) =>
    (!honorsAffinity || isWanted(node)) &&
    (!honorsTaints || toleratesNode(pod.spec.scheduling.tolerations, node.taints));
}

/** Only nodes with the labels of all constraints have domains. */
function hasDomains(constraints: readonly Constraint[], node: Node): boolean {
  return constraints.every(({ topologyKey }) => node.labels.has(topologyKey));
}

function countNode(constraints: readonly Constraint[], pod: Pod, { node, occupancy }: NodeEntry): void {
  if (!hasDomains(constraints, node)) return;
  for (const { counts, isCounted, selector, topologyKey } of constraints) {
    if (!isCounted(node)) continue;
    const domain = node.labels.get(topologyKey) ?? '';
    counts.set(domain, (counts.get(domain) ?? 0) + countMatching(selector, pod, occupancy.pods));
  }
}

/** Terminating pods are left out, and an empty selector counts no pod. `plugins/podtopologyspread/common.go` countPodsMatchSelector. */
function countMatching(selector: Selector, incoming: Pod, placedPods: readonly PlacedPod[]): number {
  if (selector.isEmpty) return 0;
  return placedPods.filter(({ pod }) => pod.deletion === undefined && isMatch(selector, incoming, pod)).length;
}

function isMatch(selector: Selector, incoming: Pod, pod: Pod): boolean {
  return pod.namespace === incoming.namespace && selector.matches(pod.labels);
}

/** In a trial only the domains of its own node change; a terminating pod that is taken off counts there all the same. */
function openState(constraints: readonly Spread[], incoming: Pod, { node }: NodeEntry): FilterState {
  const changes = constraints.map(() => 0);
  const affected = constraints.map((constraint) => hasDomains(constraints, node) && constraint.isCounted(node));
  const shift = (by: number) => (placed: PlacedPod) => {
    constraints.forEach(({ selector }, index) => {
      if (affected[index] === true && isMatch(selector, incoming, placed.pod))
        changes[index] = (changes[index] ?? 0) + by;
    });
  };
  return {
    add: shift(1),
    remove: shift(-1),
    refusal: () => firstRefusal(constraints, node, changes),
  };
}

function firstRefusal(constraints: readonly Spread[], node: Node, changes: readonly number[]): Refusal | undefined {
  for (const [index, constraint] of constraints.entries()) {
    const domain = node.labels.get(constraint.topologyKey);
    if (domain === undefined) return UNLABELLED;
    const here = (constraint.counts.get(domain) ?? 0) + (changes[index] ?? 0);
    if (here + constraint.self - leastCount(constraint, domain, here) > constraint.maxSkew) return SKEWED;
  }
  return undefined;
}

/** The count of the least filled domain; 0 while there are fewer domains than wanted. */
function leastCount({ counts, least, minDomains }: Spread, changed: string, here: number): number {
  if (counts.size < minDomains) return 0;
  const others = least.filter(([domain]) => domain !== changed).map(([, count]) => count);
  return Math.min(...others, counts.has(changed) ? here : NO_DOMAIN);
}

function leastFilled(counts: ReadonlyMap<string, number>): readonly Domain[] {
  return [...counts].sort(([, a], [, b]) => a - b).slice(0, 2);
}
