import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import { prepareTerms, selectsPod, termSize, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { createWorkLimit } from '#shared/domain/model/work-limit.ts';
import { hasEnded } from '#shared/domain/pod/has-ended.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { listSome } from '#shared/domain/admission/messages/list-some.ts';
import { checkedTerms } from './affinity-searches.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();
/** Comparisons of a label with a requirement: some milliseconds. */
const MOST_WORK = 20_000;

/**
 * Warns about a pod with required affinity to pods of lower priority: the scheduler does not preempt those for it,
 * because without them the node would no longer match (S1-20). Preferred affinity is not checked, since it keeps no pod
 * pending. Only pods of the pod's own namespace are named, found within a work limit: the requester may have no right
 * to read other namespaces, not even the number of their pods.
 */
export function affinityWarnings({ pod }: PodRequest, cluster: ClusterState): readonly string[] {
  const known = cluster.knownPods.pods.length;
  if (known === 0) return [];
  const warnings: string[] = [];
  const limit = createWorkLimit(MOST_WORK);
  for (const [index, term] of checkedTerms(pod.spec.scheduling.podAffinity).entries()) {
    if (!limit.take((1 + termSize(term)) * (1 + known))) break;
    warnings.push(...lintTerm(pod, index, term, cluster));
  }
  return warnings;
}

function lintTerm(pod: Pod, index: number, term: PodAffinityTerm, cluster: ClusterState): readonly string[] {
  const { priority = 0 } = pod.spec;
  const partners = prepareTerms(pod, [term]).flatMap((prepared) => partnersOf(prepared, pod.namespace, cluster));
  const lower = partners.filter(({ spec }) => (spec.priority ?? 0) < priority);
  if (lower.length === 0) return [];
  const path = `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
  const described = listSome(lower.map(describe), cluster.knownPods.isPartial);
  return [PHRASES.affinityToLowerPriority(path, priority, described)];
}

function partnersOf(term: AffinityTerm, own: string, { knownPods, namespaceLabels }: ClusterState): readonly Pod[] {
  const labels = namespaceLabels(own) ?? NO_LABELS;
  const inOwn = knownPods.pods.filter(({ namespace }) => namespace === own);
  return inOwn.filter((pod) => !hasEnded(pod) && selectsPod(term, pod, labels));
}

function describe({ name, spec }: Pod): string {
  return `\`${name}\` (${spec.priority ?? 0})`;
}
