import type { Steps } from '#shared/domain/base/steps.ts';
import { TermIndex } from '#shared/domain/pod/affinity-term.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node, NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { FilterState, PodAwareFilter, FilterRefusal } from './node-filters.ts';
import {
  byLabels,
  createPairCounts,
  type Incoming,
  keysOn,
  keysOnNodes,
  type PairCounts,
  podsPerStep,
  prepareIncoming,
  existingTermKeys,
  type ExistingTermKeys,
  type ExistingTermLists,
  existingTermLists,
  selectsOther,
} from './incoming-terms.ts';

const FILTER = 'InterPodAffinity';
/** Pods with anti-affinity that are counted in one step: each takes some microseconds. */
const PODS_PER_STEP = 100;
const AFFINITY_NOT_MATCHED: FilterRefusal = {
  filter: FILTER,
  reasons: ["node(s) didn't match pod affinity rules"],
  isResolvable: false,
};
const ANTI_AFFINITY_NOT_MATCHED: FilterRefusal = {
  filter: FILTER,
  reasons: ["node(s) didn't match pod anti-affinity rules"],
  isResolvable: true,
};
const EXISTING_ANTI_AFFINITY_NOT_MATCHED: FilterRefusal = {
  filter: FILTER,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
  isResolvable: true,
};

/** Affinity and anti-affinity between pods, by topology pair. */
interface AffinityCounts {
  /** Pods that all affinity terms select. */
  readonly affinityCounts: PairCounts;
  /** Pods that an anti-affinity term selects. */
  readonly antiAffinityCounts: PairCounts;
  /** Pods whose own anti-affinity selects the incoming pod. */
  readonly existingAntiAffinityCounts: PairCounts;
}

/** What the terms of the incoming pod refer to, and which other pods they match. */
interface AffinityMatch {
  /** Topology keys of the affinity: the one that no node has, otherwise all of them. */
  readonly nearKeys: readonly string[];
  /** Topology keys of the anti-affinity that some node has. */
  readonly farKeys: readonly string[];
  readonly matchOf: (pod: Pod) => PodMatch;
}

interface PodMatch {
  /** All affinity terms select the pod. */
  readonly isWanted: boolean;
  /** Topology keys of the anti-affinity terms that select it. */
  readonly farKeys: readonly string[];
}

/** Input for a trial. */
interface PreparedAffinity {
  readonly incoming: Incoming;
  readonly match: AffinityMatch;
  readonly existingKeysOf: ExistingTermKeys;
  readonly counts: AffinityCounts;
}

const NO_MATCH: PodMatch = { isWanted: false, farKeys: [] };

/** Required affinity and anti-affinity, of the incoming pod and towards it. `plugins/interpodaffinity/filtering.go`. */
export function* interPodAffinity(pod: Pod, snapshot: ClusterSnapshot): Steps<PodAwareFilter | undefined> {
  const incoming = yield* prepareIncoming(pod, snapshot);
  const match = yield* prepareMatch(incoming, snapshot);
  const counts = {
    affinityCounts: createPairCounts(),
    antiAffinityCounts: createPairCounts(),
    existingAntiAffinityCounts: createPairCounts(),
  };
  const lists = yield* existingTermLists(incoming, snapshot);
  yield* countExisting(lists, counts, snapshot);
  const hasTerms = incoming.affinity.length + incoming.antiAffinity.length > 0;
  if (hasTerms) yield* countMatches(incoming, match, counts, snapshot);
  if (!hasTerms && counts.existingAntiAffinityCounts.size() === 0) return undefined;
  const prepared = { incoming, match, existingKeysOf: existingTermKeys(incoming, lists), counts };
  return { open: (entry) => openState(prepared, entry) };
}

function* prepareMatch(incoming: Incoming, snapshot: ClusterSnapshot): Steps<AffinityMatch> {
  const { affinity, antiAffinity } = incoming;
  const near = new Set(affinity.map(({ topologyKey }) => topologyKey));
  const far = new Set(antiAffinity.map(({ topologyKey }) => topologyKey));
  const nearOnNodes = yield* keysOnNodes(snapshot, near);
  const farOnNodes = yield* keysOnNodes(snapshot, far);
  const nowhere = [...near].find((key) => !nearOnNodes.has(key));
  const farTerms = new TermIndex<undefined>();
  for (const term of antiAffinity.filter(({ topologyKey }) => farOnNodes.has(topologyKey))) {
    farTerms.add(term, undefined);
    yield;
  }
  return {
    nearKeys: nowhere === undefined ? [...near] : [nowhere],
    farKeys: [...farOnNodes],
    matchOf: byLabels((pod) => {
      const isWanted = affinity.length > 0 && affinity.every((term) => selectsOther(incoming, term, pod));
      const farKeys = keysOfTerms(incoming, farTerms, pod);
      return isWanted || farKeys.size > 0 ? { isWanted, farKeys: [...farKeys] } : NO_MATCH;
    }),
  };
}

/** The topology keys of the terms that select a pod. */
function keysOfTerms(incoming: Incoming, terms: TermIndex<undefined>, pod: Pod): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const bucket of terms.about(pod)) {
    for (const term of bucket?.keys() ?? []) {
      if (!keys.has(term.topologyKey) && selectsOther(incoming, term, pod)) keys.add(term.topologyKey);
    }
  }
  return keys;
}

function* countMatches(
  { affinity, antiAffinity }: Incoming,
  match: AffinityMatch,
  counts: AffinityCounts,
  { nodes }: ClusterSnapshot,
): Steps<void> {
  const pause = podsPerStep([...affinity, ...antiAffinity].map(({ selector }) => selector));
  let looked = 0;
  for (const { node, occupancy } of nodes.values()) {
    for (const { pod } of occupancy.pods) {
      countMatch(match, counts, node, [pod, 1]);
      if ((looked += 1) % pause === 0) yield;
    }
  }
}

function countMatch(
  { matchOf, nearKeys }: AffinityMatch,
  { affinityCounts, antiAffinityCounts }: AffinityCounts,
  node: Node,
  [pod, by]: readonly [Pod, number],
): void {
  const { isWanted, farKeys } = matchOf(pod);
  if (isWanted) for (const key of nearKeys) count(affinityCounts, key, node, by);
  for (const key of farKeys) count(antiAffinityCounts, key, node, by);
}

function* countExisting(
  lists: ExistingTermLists,
  { existingAntiAffinityCounts }: AffinityCounts,
  { antiAffine, nodes }: ClusterSnapshot,
): Steps<void> {
  let looked = 0;
  for (const [terms, keys] of lists) {
    for (const { pod } of antiAffine.with(terms)) {
      const node = nodes.get(pod.spec.nodeName ?? '')?.node;
      for (const key of node === undefined ? [] : keysOn(node, keys))
        count(existingAntiAffinityCounts, key, node as Node, 1);
      if ((looked += 1) % PODS_PER_STEP === 0) yield;
    }
    yield;
  }
}

function count(counts: PairCounts, key: string, node: Node, by: number): void {
  const value = node.labels.get(key);
  if (value !== undefined) counts.add(key, value, by);
}

/** In a trial only this node changes. */
function openState(prepared: PreparedAffinity, { node }: NodeEntry): FilterState {
  const { match, existingKeysOf } = prepared;
  let { counts } = prepared;
  const countBoth = (by: number) => (placed: PlacedPod) => {
    if (counts === prepared.counts) counts = changeable(counts);
    countMatch(match, counts, node, [placed.pod, by]);
    if (placed.antiAffinity.length === 0) return;
    for (const key of keysOn(node, existingKeysOf(placed.antiAffinity)))
      count(counts.existingAntiAffinityCounts, key, node, by);
  };
  return { add: countBoth(1), remove: countBoth(-1), refusal: () => firstRefusal(prepared, counts, node) };
}

function changeable({
  affinityCounts,
  antiAffinityCounts,
  existingAntiAffinityCounts,
}: AffinityCounts): AffinityCounts {
  return {
    affinityCounts: createPairCounts(affinityCounts),
    antiAffinityCounts: createPairCounts(antiAffinityCounts),
    existingAntiAffinityCounts: createPairCounts(existingAntiAffinityCounts),
  };
}

function firstRefusal(
  { incoming, match }: PreparedAffinity,
  counts: AffinityCounts,
  node: Node,
): FilterRefusal | undefined {
  if (!meetsAffinity(incoming, match, counts, node)) return AFFINITY_NOT_MATCHED;
  if (match.farKeys.some((key) => countAt(counts.antiAffinityCounts, key, node) > 0)) return ANTI_AFFINITY_NOT_MATCHED;
  return breaksExistingAntiAffinity(counts, node) ? EXISTING_ANTI_AFFINITY_NOT_MATCHED : undefined;
}

/**
 * Every affinity term finds a pod in the node's domain, or the incoming pod is the first of a group whose terms select
 * its own pods.
 */
function meetsAffinity(
  { pod }: Incoming,
  { matchOf, nearKeys }: AffinityMatch,
  { affinityCounts }: AffinityCounts,
  node: Node,
): boolean {
  if (!nearKeys.every((key) => node.labels.has(key))) return false;
  if (nearKeys.every((key) => countAt(affinityCounts, key, node) > 0)) return true;
  return affinityCounts.size() === 0 && matchOf(pod).isWanted;
}

function breaksExistingAntiAffinity({ existingAntiAffinityCounts }: AffinityCounts, node: Node): boolean {
  return (
    existingAntiAffinityCounts.size() > 0 &&
    [...node.labels].some(([key, value]) => existingAntiAffinityCounts.get(key, value) > 0)
  );
}

function countAt(counts: PairCounts, key: string, node: Node): number {
  const value = node.labels.get(key);
  return value === undefined ? 0 : counts.get(key, value);
}
