import { prepareSelector, selectorSize } from '#shared/domain/model/label-selector.ts';
import type { LabelSelector, PodAffinityTerm } from '#shared/domain/model/pod.ts';
import { createWorkLimit, type WorkLimit } from '#shared/domain/model/work-limit.ts';
import type { AdmissionWorld } from './admission-world.ts';
import type { PodSearch } from './known-pods.ts';
import type { PodRequest } from './pod-request.ts';

/** A pod may name any number of namespaces; a lint is not worth more look-ups than this. */
const MOST_SEARCHES = 8;
/** Comparisons of a label with a requirement: some milliseconds. A cluster of 10,000 namespaces can be asked twice. */
const MOST_WORK = 20_000;
const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * Where the pods are that a pod must run beside: the first few places, found within a limit of work, whatever the number
 * of terms and namespaces. Empty for nearly every pod.
 */
export function partnerSearches({ pod }: PodRequest, world: AdmissionWorld): readonly PodSearch[] {
  const searches: PodSearch[] = [];
  const limit = createWorkLimit(MOST_WORK);
  for (const term of pod.spec.scheduling.podAffinity) {
    if (!limit.take(1)) break;
    for (const search of searchesOf(term, pod.namespace, world, limit)) {
      searches.push(search);
      if (searches.length === MOST_SEARCHES) return searches;
    }
  }
  return searches;
}

/** A term without a label selector selects no pod. */
function* searchesOf(
  term: PodAffinityTerm,
  own: string,
  world: AdmissionWorld,
  limit: WorkLimit,
): Generator<PodSearch, void> {
  const { labelSelector: selector } = term;
  if (selector === undefined || !limit.take(selectorSize(selector))) return;
  const found = new Set<string>();
  for (const namespace of namespacesOf(term, own, world, limit)) {
    if (!limit.take(1)) return;
    if (!found.has(namespace)) yield { namespace, selector };
    found.add(namespace);
  }
}

/** Those that are named, then those that are selected. */
function* namespacesOf(
  { namespaces, namespaceSelector }: PodAffinityTerm,
  own: string,
  world: AdmissionWorld,
  limit: WorkLimit,
): Generator<string, void> {
  yield* namespaces;
  if (namespaceSelector !== undefined) yield* selectedNamespaces(namespaceSelector, world, limit);
  else if (namespaces.length === 0) yield own;
}

function* selectedNamespaces(
  selector: LabelSelector,
  { namespaceNames, namespaceLabels }: AdmissionWorld,
  limit: WorkLimit,
): Generator<string, void> {
  const cost = 1 + selectorSize(selector);
  if (!limit.take(cost)) return;
  const { matches } = prepareSelector(selector);
  for (const name of namespaceNames()) {
    if (!limit.take(cost)) return;
    if (matches(namespaceLabels(name) ?? NO_LABELS)) yield name;
  }
}
