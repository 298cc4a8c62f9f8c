import type { Steps } from '#shared/domain/model/steps.ts';
import { selectsPod, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { NO_LABELS, type Incoming } from './incoming-terms.ts';

/** The anti-affinity of a pod: one list, which all pods of its template share. */
type Terms = readonly AffinityTerm[];

/** By list, the topology keys of those of its terms that select the incoming pod. */
export type ReluctantLists = ReadonlyMap<Terms, ReadonlySet<string>>;

/** The topology keys of those terms of a list that select the incoming pod. */
export type Reluctance = (terms: Terms) => ReadonlySet<string>;

const TERMS_PER_STEP = 100;

/** The lists that keep the incoming pod away, by the index of a snapshot: the others are not looked at. */
export function* reluctantLists({ pod, namespaces }: Incoming, { antiAffine }: ClusterSnapshot): Steps<ReluctantLists> {
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

/** Answers for each list once, beginning with those that are known. */
export function reluctance({ pod, namespaces }: Incoming, lists: ReluctantLists): Reluctance {
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
