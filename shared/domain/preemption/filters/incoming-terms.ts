import { prepareTerms, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';

/** The incoming pod's side of the matter. */
export interface Incoming {
  readonly pod: Pod;
  readonly namespaceLabels: ReadonlyMap<string, string>;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

/** The namespaces of the incoming pod's terms are known by name, so labels are not looked at. */
export const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** Prepares the terms of the incoming pod. */
export function prepareIncoming(pod: Pod, snapshot: ClusterSnapshot): Incoming {
  const { podAffinity, podAntiAffinity } = pod.spec.scheduling;
  return {
    pod,
    namespaceLabels: snapshot.namespaces.get(pod.namespace) ?? NO_LABELS,
    affinity: resolveTerms(pod, podAffinity, snapshot),
    antiAffinity: resolveTerms(pod, podAntiAffinity, snapshot),
  };
}

/**
 * Terms of the incoming pod name their namespaces outright, so that the namespaces of all other pods need no look-up.
 * `plugins/interpodaffinity/plugin.go` mergeAffinityTermNamespacesIfNotEmpty.
 */
function resolveTerms(pod: Pod, terms: readonly PodAffinityTerm[], snapshot: ClusterSnapshot): readonly AffinityTerm[] {
  return prepareTerms(pod, terms).map((term) => ({
    ...term,
    namespaces: new Set([...term.namespaces, ...selectedNamespaces(term, snapshot)]),
    namespaceSelector: { isEmpty: false, matches: () => term.namespaceSelector.isEmpty },
  }));
}

function selectedNamespaces({ namespaceSelector }: AffinityTerm, snapshot: ClusterSnapshot): readonly string[] {
  return [...snapshot.namespaces].filter(([, labels]) => namespaceSelector.matches(labels)).map(([name]) => name);
}
