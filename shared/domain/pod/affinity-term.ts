import { type PreparedSelector, prepareSelector, selectorSize } from '#shared/domain/labels/label-selector.ts';
import type { Pod, PodAffinityTerm } from './pod.ts';

/** By list, then by namespace. */
const PREPARED = new WeakMap<readonly PodAffinityTerm[], Map<string, readonly AffinityTerm[]>>();

/** One required (anti-)affinity term, ready to be asked often. */
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

/** True where the term selects the pod, which lives in a namespace with these labels. */
export function selectsPod(term: AffinityTerm, pod: Pod, namespaceLabels: ReadonlyMap<string, string>): boolean {
  return selectsNamespace(term, pod.namespace, namespaceLabels) && term.selector.matches(pod.labels);
}

/** True where the term is about pods of the namespace with this name and these labels. */
export function selectsNamespace(
  { namespaces, namespaceSelector }: AffinityTerm,
  name: string,
  labels: ReadonlyMap<string, string>,
): boolean {
  return namespaces.has(name) || namespaceSelector.matches(labels);
}

/** What it costs to ask a term about one pod, in comparisons. */
export function termSize({ namespaces, namespaceSelector, labelSelector }: PodAffinityTerm): number {
  const selectors = [namespaceSelector, labelSelector].filter((each) => each !== undefined);
  return selectors.reduce((size, each) => size + selectorSize(each), namespaces.length);
}

function meansOwnNamespace(term: PodAffinityTerm): boolean {
  return term.namespaces.length === 0 && term.namespaceSelector === undefined;
}
