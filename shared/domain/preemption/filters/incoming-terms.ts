import { withValueSets, type PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import { prepareTerm, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';

/** The incoming pod's side of the matter. */
export interface Incoming {
  readonly pod: Pod;
  /** Labels by namespace. */
  readonly namespaces: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

export const NO_LABELS: ReadonlyMap<string, string> = new Map();

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
 * Whether a term of the incoming pod selects another pod. A namespace that is not known (yet) is selected by name, or by
 * a selector of all. `plugins/interpodaffinity/plugin.go` mergeAffinityTermNamespacesIfNotEmpty.
 */
export function selectsOther({ namespaces }: Incoming, term: AffinityTerm, other: Pod): boolean {
  const { namespace, labels } = other;
  const isAbout = term.namespaces.has(namespace) || isSelected(term.namespaceSelector, namespaces.get(namespace));
  return isAbout && term.selector.matches(labels);
}

function isSelected(selector: PreparedSelector, labels: ReadonlyMap<string, string> | undefined): boolean {
  return labels === undefined ? selector.isEmpty : selector.matches(labels);
}
