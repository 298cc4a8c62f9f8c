import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { PodAffinityTerm } from '#shared/domain/model/pod.ts';
import type { AdmissionWorld } from './admission-world.ts';
import type { PodSearch } from './known-pods.ts';
import type { PodRequest } from './pod-request.ts';

/** A pod may name any number of namespaces; a lint is not worth more look-ups than this. */
const MOST_SEARCHES = 8;
const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** Where the pods are that a pod must run beside. Empty for nearly every pod. */
export function partnerSearches({ pod }: PodRequest, world: AdmissionWorld): readonly PodSearch[] {
  const { podAffinity } = pod.spec.scheduling;
  if (podAffinity.length === 0) return [];
  const searches = podAffinity.flatMap((term) => searchesOf(term, pod.namespace, world));
  return searches.slice(0, MOST_SEARCHES);
}

/** A term without a label selector selects no pod. */
function searchesOf(term: PodAffinityTerm, own: string, world: AdmissionWorld): readonly PodSearch[] {
  const { labelSelector: selector } = term;
  if (selector === undefined) return [];
  return Array.from(namespacesOf(term, own, world), (namespace) => ({ namespace, selector }));
}

function namespacesOf(term: PodAffinityTerm, own: string, world: AdmissionWorld): ReadonlySet<string> {
  const { namespaces, namespaceSelector } = term;
  if (namespaceSelector === undefined) return new Set(namespaces.length === 0 ? [own] : namespaces);
  const { matches } = prepareSelector(namespaceSelector);
  const selected = [...world.namespaceNames()].filter((name) => matches(world.namespaceLabels(name) ?? NO_LABELS));
  return new Set([...namespaces, ...selected.sort()]);
}
