import { type PreparedSelector, withValueSets, NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { type AffinityTerm, prepareTerm, selectsPod } from '#shared/domain/pod/affinity-term.ts';

/**
 * Requirements that are compared in less than a millisecond; one with many thousands of values takes a few
 * milliseconds.
 */
const REQUIREMENTS_PER_STEP = 2_000;

/** How many pods to compare with all of these selectors in one step. */
export function podsPerStep(selectors: readonly PreparedSelector[]): number {
  const size = selectors.reduce((sum, { requirements }) => sum + 1 + (requirements?.length ?? 0), 0);
  return Math.max(1, Math.floor(REQUIREMENTS_PER_STEP / Math.max(1, size)));
}

/** Computes what depends only on the namespace and labels of a pod, once for all pods that share both. */
export function byLabels<T>(find: (pod: Pod) => T): (pod: Pod) => T {
  const byNamespace = new Map<string, Map<Pod['labels'], T>>();
  return (pod) => {
    const { labels, namespace } = pod;
    const known = byNamespace.get(namespace) ?? new Map<Pod['labels'], T>();
    const before = known.get(labels);
    if (before !== undefined) return before;
    const found = find(pod);
    byNamespace.set(namespace, known.set(labels, found));
    return found;
  };
}

/** The label keys that some node of the cluster has. */
export function* keysOnNodes({ nodes }: ClusterSnapshot, keys: Iterable<string>): Steps<ReadonlySet<string>> {
  const missing = new Set(keys);
  const found = new Set<string>();
  for (const { node } of nodes.values()) {
    if (missing.size === 0) break;
    for (const key of keysOn(node, missing)) {
      missing.delete(key);
      found.add(key);
    }
    yield;
  }
  return found;
}

/** The label keys that this node has. */
export function keysOn({ labels }: Node, keys: ReadonlySet<string>): readonly string[] {
  return labels.size < keys.size
    ? Array.from(labels.keys()).filter((key) => keys.has(key))
    : Array.from(keys).filter((key) => labels.has(key));
}

/** The terms of the incoming pod. */
export interface Incoming {
  readonly pod: Pod;
  /** Labels by namespace. */
  readonly namespaces: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

/** Prepares the terms of the incoming pod. */
export function* prepareIncoming(pod: Pod, { namespaces }: ClusterSnapshot): Steps<Incoming> {
  const { podAffinity, podAntiAffinity } = pod.spec.scheduling;
  const affinity = yield* prepare(pod, podAffinity);
  return { pod, namespaces, affinity, antiAffinity: yield* prepare(pod, podAntiAffinity) };
}

function* prepare(pod: Pod, terms: readonly PodAffinityTerm[]): Steps<readonly AffinityTerm[]> {
  const prepared: AffinityTerm[] = [];
  for (const term of terms) {
    const ready = prepareTerm(pod, term);
    prepared.push({ ...ready, selector: withValueSets(ready.selector) });
    yield;
  }
  return prepared;
}

/**
 * Whether a term of the incoming pod selects another pod. An unknown namespace is selected by name, or by a selector
 * that matches everything. `plugins/interpodaffinity/plugin.go` mergeAffinityTermNamespacesIfNotEmpty.
 */
export function selectsOther({ namespaces }: Incoming, term: AffinityTerm, other: Pod): boolean {
  const { namespace, labels } = other;
  const isAbout = term.namespaces.has(namespace) || isSelected(term.namespaceSelector, namespaces.get(namespace));
  return isAbout && term.selector.matches(labels);
}

function isSelected(selector: PreparedSelector, labels: ReadonlyMap<string, string> | undefined): boolean {
  return labels === undefined ? selector.isEmpty : selector.matches(labels);
}

/** Numbers of matching pods by topology pair, a node's label key and value. */
export interface PairCounts {
  readonly get: (key: string, value: string) => number;
  readonly add: (key: string, value: string, by: number) => void;
  /** How many pairs have a number other than 0. */
  readonly size: () => number;
}

/** Counts that start at zero, or at the values of other counts, which are not changed. */
export function createPairCounts(below?: PairCounts): PairCounts {
  const own = new Map<string, Map<string, number>>();
  let size = below?.size() ?? 0;
  const get = (key: string, value: string): number => own.get(key)?.get(value) ?? below?.get(key, value) ?? 0;
  return {
    get,
    add: (key, value, by) => {
      const before = get(key, value);
      const ofKey = own.get(key);
      if (ofKey === undefined) own.set(key, new Map([[value, before + by]]));
      else ofKey.set(value, before + by);
      size += Number(before + by !== 0) - Number(before !== 0);
    },
    size: () => size,
  };
}

/** The anti-affinity of a pod: one list, shared by all pods of its template. */
type Terms = readonly AffinityTerm[];

/** For each list, the topology keys of its terms that select the incoming pod. */
export type ExistingTermLists = ReadonlyMap<Terms, ReadonlySet<string>>;

/** The topology keys of the terms in a list that select the incoming pod. */
export type ExistingTermKeys = (terms: Terms) => ReadonlySet<string>;

const TERMS_PER_STEP = 100;

/** The lists that keep the incoming pod away, found by the index of a snapshot without examining the others. */
export function* existingTermLists(
  { pod, namespaces }: Incoming,
  { antiAffine }: ClusterSnapshot,
): Steps<ExistingTermLists> {
  const found = new Map<Terms, Set<string>>();
  const labels = namespaces.get(pod.namespace) ?? NO_LABELS;
  let looked = 0;
  for (const bucket of antiAffine.terms.about(pod)) {
    for (const [term, terms] of bucket ?? []) {
      if (selectsPod(term, pod, labels)) found.set(terms, (found.get(terms) ?? new Set()).add(term.topologyKey));
      if ((looked += 1) % TERMS_PER_STEP === 0) yield;
    }
    if ((looked += 1) % TERMS_PER_STEP === 0) yield;
  }
  return found;
}

/** Computes the answer for each list once, starting with the known ones. */
export function existingTermKeys({ pod, namespaces }: Incoming, lists: ExistingTermLists): ExistingTermKeys {
  const known = new Map(lists);
  const labels = namespaces.get(pod.namespace) ?? NO_LABELS;
  return (terms) => {
    const before = known.get(terms);
    if (before !== undefined) return before;
    const found = new Set(terms.filter((term) => selectsPod(term, pod, labels)).map(({ topologyKey }) => topologyKey));
    known.set(terms, found);
    return found;
  };
}
