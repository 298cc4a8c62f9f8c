import { selectsPod, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PodAwareFilter, FilterState } from './filter.ts';
import { NO_LABELS, prepareIncoming, type Incoming } from './incoming-terms.ts';
import { createPairCounts, type PairCounts } from './pair-counts.ts';
import type { Refusal } from './refusal.ts';

const FILTER = 'InterPodAffinity';
const LONELY: Refusal = { filter: FILTER, reasons: ["node(s) didn't match pod affinity rules"], isResolvable: false };
const AVOIDING: Refusal = {
  filter: FILTER,
  reasons: ["node(s) didn't match pod anti-affinity rules"],
  isResolvable: true,
};
const AVOIDED: Refusal = {
  filter: FILTER,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
  isResolvable: true,
};

/** Affinity and anti-affinity between pods, by topology pair. */
interface Company {
  /** Pods that all affinity terms select. */
  readonly wanted: PairCounts;
  /** Pods that an anti-affinity term selects. */
  readonly unwanted: PairCounts;
  /** Pods whose own anti-affinity selects the incoming pod. */
  readonly unwilling: PairCounts;
}

type Match = (placed: PlacedPod, node: Node, by: number) => void;

/** Required affinity and anti-affinity, of the incoming pod and towards it. `plugins/interpodaffinity/filtering.go`. */
export function interPodAffinity(pod: Pod, snapshot: ClusterSnapshot): PodAwareFilter | undefined {
  const incoming = prepareIncoming(pod, snapshot);
  const company = countCompany(incoming, snapshot);
  const hasTerms = incoming.affinity.length + incoming.antiAffinity.length > 0;
  if (!hasTerms && company.unwilling.size() === 0) return undefined;
  return { open: (entry) => openState(incoming, company, entry) };
}

function countCompany(incoming: Incoming, snapshot: ClusterSnapshot): Company {
  const company = { wanted: createPairCounts(), unwanted: createPairCounts(), unwilling: createPairCounts() };
  countUnwilling(incoming, company, snapshot);
  if (incoming.affinity.length + incoming.antiAffinity.length === 0) return company;
  for (const { node, occupancy } of snapshot.nodes.values()) {
    for (const placed of occupancy.pods) countWishes(incoming, company)(placed, node, 1);
  }
  return company;
}

function countUnwilling(incoming: Incoming, company: Company, snapshot: ClusterSnapshot): void {
  const count = countReluctance(incoming, company);
  for (const placed of snapshot.antiAffine) {
    const entry = snapshot.nodes.get(placed.pod.spec.nodeName ?? '');
    if (entry !== undefined) count(placed, entry.node, 1);
  }
}

/** Counts a pod where the incoming pod's terms select it: for affinity all of them, for anti-affinity each. */
function countWishes({ affinity, antiAffinity }: Incoming, { wanted, unwanted }: Company): Match {
  return ({ pod }, node, by) => {
    if (isSelectedByAll(affinity, pod)) for (const term of affinity) count(wanted, term, node, by);
    for (const term of antiAffinity) if (selectsPod(term, pod, NO_LABELS)) count(unwanted, term, node, by);
  };
}

/** Counts a pod for each of its anti-affinity terms that selects the incoming pod. */
function countReluctance({ pod, namespaceLabels }: Incoming, { unwilling }: Company): Match {
  return (placed, node, by) => {
    for (const term of placed.antiAffinity)
      if (selectsPod(term, pod, namespaceLabels)) count(unwilling, term, node, by);
  };
}

function count(counts: PairCounts, { topologyKey }: AffinityTerm, node: Node, by: number): void {
  const value = node.labels.get(topologyKey);
  if (value !== undefined) counts.add(topologyKey, value, by);
}

function isSelectedByAll(terms: readonly AffinityTerm[], pod: Pod): boolean {
  return terms.length > 0 && terms.every((term) => selectsPod(term, pod, NO_LABELS));
}

/** In a trial only the node at hand changes; the rest of the cluster stays as it is. */
function openState(incoming: Incoming, cluster: Company, { node }: NodeEntry): FilterState {
  const company: Company = {
    wanted: createPairCounts(cluster.wanted),
    unwanted: createPairCounts(cluster.unwanted),
    unwilling: createPairCounts(cluster.unwilling),
  };
  const countBoth = (by: number) => (placed: PlacedPod) => {
    countWishes(incoming, company)(placed, node, by);
    countReluctance(incoming, company)(placed, node, by);
  };
  return { add: countBoth(1), remove: countBoth(-1), refusal: () => firstRefusal(incoming, company, node) };
}

function firstRefusal(incoming: Incoming, company: Company, node: Node): Refusal | undefined {
  if (!hasWantedCompany(incoming, company, node)) return LONELY;
  if (hasUnwantedCompany(incoming, company, node)) return AVOIDING;
  return hasUnwillingCompany(company, node) ? AVOIDED : undefined;
}

/** Every affinity term finds a pod in the node's domain, or the incoming pod is the first of a group that wants itself. */
function hasWantedCompany({ affinity, pod }: Incoming, { wanted }: Company, node: Node): boolean {
  if (!affinity.every(({ topologyKey }) => node.labels.has(topologyKey))) return false;
  if (affinity.every(({ topologyKey }) => countAt(wanted, topologyKey, node) > 0)) return true;
  return wanted.size() === 0 && isSelectedByAll(affinity, pod);
}

function hasUnwantedCompany({ antiAffinity }: Incoming, { unwanted }: Company, node: Node): boolean {
  return antiAffinity.some(({ topologyKey }) => countAt(unwanted, topologyKey, node) > 0);
}

function hasUnwillingCompany({ unwilling }: Company, node: Node): boolean {
  return unwilling.size() > 0 && [...node.labels].some(([key, value]) => unwilling.get(key, value) > 0);
}

function countAt(counts: PairCounts, key: string, node: Node): number {
  const value = node.labels.get(key);
  return value === undefined ? 0 : counts.get(key, value);
}
