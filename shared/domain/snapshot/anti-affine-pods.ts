import type { AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import { TermIndex } from '#shared/domain/pod/term-index.ts';
import type { PlacedPod } from './placed-pod.ts';

/** One list, which all pods of a template share. */
type Terms = readonly AffinityTerm[];

/** Pods on nodes that keep others away, by their anti-affinity: pods of the same template are compared with another pod once. */
export class AntiAffinePods {
  readonly terms = new TermIndex<Terms>();
  readonly #pods = new Map<Terms, Set<PlacedPod>>();
  #size = 0;

  /** How many pods. */
  get size(): number {
    return this.#size;
  }

  /** The pods that have this list of terms. */
  with(terms: Terms): Iterable<PlacedPod> {
    return this.#pods.get(terms) ?? [];
  }

  /** Takes in a pod that has terms. */
  add(placed: PlacedPod): void {
    const { antiAffinity } = placed;
    const known = this.#pods.get(antiAffinity);
    this.#size += 1;
    if (known !== undefined) known.add(placed);
    else this.#begin(antiAffinity, placed);
  }

  /** Nothing happens where the pod is not among these. */
  delete(placed: PlacedPod): void {
    const { antiAffinity } = placed;
    const pods = this.#pods.get(antiAffinity);
    if (pods?.delete(placed) !== true) return;
    this.#size -= 1;
    if (pods.size > 0) return;
    this.#pods.delete(antiAffinity);
    for (const term of antiAffinity) this.terms.remove(term);
  }

  #begin(antiAffinity: Terms, placed: PlacedPod): void {
    this.#pods.set(antiAffinity, new Set([placed]));
    for (const term of antiAffinity) this.terms.add(term, antiAffinity);
  }
}
