import { prepareTerms, selectsNamespace, termSize } from '#shared/domain/pod/affinity-term.ts';
import type { PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { createWorkLimit } from '#shared/domain/model/work-limit.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodSearch } from '#shared/domain/admission/known-pods.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/** Bounds the work for a warning: a pod may have any number of terms. */
export const MOST_CHECKED_TERMS = 8;
/** Comparisons of a label with a requirement: some milliseconds. */
const MOST_WORK = 20_000;
const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * The pods of its own namespace that a pod must be co-located with, found within a work limit; empty for nearly every
 * pod. The requester may have no right to read the pods and labels of other namespaces, so a warning must not depend on
 * them.
 */
export function affinitySearches({ pod }: PodRequest, cluster: ClusterState): readonly PodSearch[] {
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  const limit = createWorkLimit(MOST_WORK);
  const searches: PodSearch[] = [];
  for (const term of checkedTerms(pod.spec.scheduling.podAffinity)) {
    // A term without a label selector selects no pod.
    if (term.labelSelector === undefined) continue;
    if (!limit.take(1 + termSize(term))) break;
    const [prepared] = prepareTerms(pod, [term]);
    const isOwn = prepared !== undefined && selectsNamespace(prepared, pod.namespace, labels);
    if (isOwn) searches.push({ namespace: pod.namespace, selector: term.labelSelector });
  }
  return searches;
}

/** The terms that are checked. */
export function checkedTerms(terms: readonly PodAffinityTerm[]): readonly PodAffinityTerm[] {
  return terms.slice(0, MOST_CHECKED_TERMS);
}
