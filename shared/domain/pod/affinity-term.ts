import { type PreparedSelector, prepareSelector, selectorSize } from '#shared/domain/labels/label-selector.ts';
import type { Pod, PodAffinityTerm } from './pod.ts';

/** By list, then by namespace. */
const PREPARED = new WeakMap<readonly PodAffinityTerm[], Map<string, readonly AffinityTerm[]>>();

/** One required (anti-)affinity term, prepared for frequent use. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: PreparedSelector;
  readonly selector: PreparedSelector;
}

/**
 * Prepares the terms of a pod. A term without namespaces and namespace selector means the pod's own namespace.
 * `k8s.io/kube-scheduler/framework/types.go` newAffinityTerm; `matchLabelKeys` were merged by the API server.
 */
export function prepareTerms(pod: Pod, terms: readonly PodAffinityTerm[]): readonly AffinityTerm[] {
  return terms.map((term) => prepareTerm(pod, term));
}

/** As `prepareTerms`, for one of them. */
export function prepareTerm(pod: Pod, term: PodAffinityTerm): AffinityTerm {
  return {
    topologyKey: term.topologyKey,
    namespaces: new Set(meansOwnNamespace(term) ? [pod.namespace] : term.namespaces),
    namespaceSelector: prepareSelector(term.namespaceSelector),
    selector: prepareSelector(term.labelSelector),
  };
}

/**
 * As `prepareTerms`, once for all pods of a namespace that have the same list: a thousand terms take half a MiB, and a
 * Deployment multiplies them by its replicas.
 */
export function sharedTerms(pod: Pod, terms: readonly PodAffinityTerm[]): readonly AffinityTerm[] {
  if (terms.length === 0) return [];
  const ofNamespaces = PREPARED.get(terms) ?? new Map<string, readonly AffinityTerm[]>();
  const prepared = ofNamespaces.get(pod.namespace) ?? prepareTerms(pod, terms);
  PREPARED.set(terms, ofNamespaces.set(pod.namespace, prepared));
  return prepared;
}

/** True if the term selects the pod, which lives in a namespace with these labels. */
export function selectsPod(term: AffinityTerm, pod: Pod, namespaceLabels: ReadonlyMap<string, string>): boolean {
  return selectsNamespace(term, pod.namespace, namespaceLabels) && term.selector.matches(pod.labels);
}

/** True if the term covers pods of the namespace with this name and these labels. */
export function selectsNamespace(
  { namespaces, namespaceSelector }: AffinityTerm,
  name: string,
  labels: ReadonlyMap<string, string>,
): boolean {
  return namespaces.has(name) || namespaceSelector.matches(labels);
}

/** The cost of matching a term against one pod, in comparisons. */
export function termSize({ namespaces, namespaceSelector, labelSelector }: PodAffinityTerm): number {
  const selectors = [namespaceSelector, labelSelector].filter((each) => each !== undefined);
  return selectors.reduce((size, each) => size + selectorSize(each), namespaces.length);
}

function meansOwnNamespace(term: PodAffinityTerm): boolean {
  return term.namespaces.length === 0 && term.namespaceSelector === undefined;
}

/**
 * A term with more namespaces or label values than this is compared with every pod, so that the index does not multiply
 * it.
 */
const MAX_ENTRIES_PER_PART = 8;
/** Namespaces that are known by their labels only. */
const ANY_NAMESPACE = '';
/** Terms that require no particular label value. */
const ANY_LABEL = '';

/** Terms, each with its owner. */
export type TermsOfOwners<Owner> = ReadonlyMap<AffinityTerm, Owner>;

/**
 * Affinity terms indexed by the namespace and one label of the pods that they can select, so that a pod is compared
 * only with the terms for its namespace and labels, not with all terms of a cluster. Each term belongs to an owner.
 */
export class TermIndex<Owner> {
  readonly #buckets = new Map<string, Map<AffinityTerm, Owner>>();

  add(term: AffinityTerm, owner: Owner): void {
    for (const key of keysOf(term)) {
      const bucket = this.#buckets.get(key);
      if (bucket === undefined) this.#buckets.set(key, new Map([[term, owner]]));
      else bucket.set(term, owner);
    }
  }

  remove(term: AffinityTerm): void {
    for (const key of keysOf(term)) {
      const bucket = this.#buckets.get(key);
      if (bucket?.delete(term) === true && bucket.size === 0) this.#buckets.delete(key);
    }
  }

  /**
   * The terms that may select a pod, each once: by its namespace and each of its labels, `undefined` if there are none.
   */
  *about({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>): Generator<TermsOfOwners<Owner> | undefined> {
    if (this.#buckets.size === 0) return;
    for (const place of [namespace, ANY_NAMESPACE]) {
      yield this.#buckets.get(keyOf(place, ANY_LABEL));
      for (const [key, value] of labels) yield this.#buckets.get(keyOf(place, pairOf(key, value)));
    }
  }
}

function keysOf(term: AffinityTerm): readonly string[] {
  const labels = labelsOf(term.selector);
  return placesOf(term).flatMap((place) => labels.map((label) => keyOf(place, label)));
}

function placesOf({ namespaces, namespaceSelector }: AffinityTerm): readonly string[] {
  const areFew = namespaceSelector.requirements === undefined && namespaces.size <= MAX_ENTRIES_PER_PART;
  return areFew ? [...namespaces] : [ANY_NAMESPACE];
}

/** The values of one label, one of which a pod must have; none if the selector matches nothing. */
function labelsOf({ requirements }: PreparedSelector): readonly string[] {
  if (requirements === undefined) return [];
  const found = requirements.find(({ operator, values }) => operator === 'In' && values.length <= MAX_ENTRIES_PER_PART);
  return found === undefined ? [ANY_LABEL] : [...new Set(found.values)].map((value) => pairOf(found.key, value));
}

/** Neither a namespace nor a label contains a line break. */
function keyOf(place: string, label: string): string {
  return `${place}\n${label}`;
}

function pairOf(key: string, value: string): string {
  return `${key}\n${value}`;
}
