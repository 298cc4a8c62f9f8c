import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { AffinityTerm } from './affinity-term.ts';
import type { Pod } from './pod.ts';

/** A term about more namespaces or label values than this is looked at for every pod, so that no entry multiplies. */
const MAX_ENTRIES_PER_PART = 8;
/** Namespaces that are known by their labels only. */
const ANY_NAMESPACE = '';
/** Terms that name no label value which a pod must have. */
const ANY_LABEL = '';

/** Terms, each with its owner. */
export type TermsOfOwners<Owner> = ReadonlyMap<AffinityTerm, Owner>;

/**
 * Affinity terms by the namespace and one label of the pods that they can select: what a pod has to be compared with are
 * the terms about its own namespace and labels, not all terms of a cluster. Each term belongs to an owner.
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

  /** The terms that may select a pod, no term twice: by its namespace and each of its labels, `undefined` where there are none. */
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

/** The values of one label, one of which a pod must have; none where the selector matches nothing. */
function labelsOf({ requirements }: PreparedSelector): readonly string[] {
  if (requirements === undefined) return [];
  const found = requirements.find(({ operator, values }) => operator === 'In' && values.length <= MAX_ENTRIES_PER_PART);
  return found === undefined ? [ANY_LABEL] : [...new Set(found.values)].map((value) => pairOf(found.key, value));
}

/** Neither a namespace nor a label holds a line break. */
function keyOf(place: string, label: string): string {
  return `${place}\n${label}`;
}

function pairOf(key: string, value: string): string {
  return `${key}\n${value}`;
}
