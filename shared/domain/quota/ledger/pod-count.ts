import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { podUidOf, type Reservation } from './ledger-state.ts';

/** The total cost of all pods that a quota counts, in the resources that it limits. */
export interface PodCount {
  readonly total: Amounts;
  /** The usage of the largest namespaces; with many namespaces it may be out of date unless `isExact`. */
  byNamespace(isExact: boolean): ReadonlyMap<string, Amounts>;
  /** The generation of a counted pod, 0 if the API server does not set it; `undefined` for other pods. */
  generationOf(uid: string): number | undefined;
}

/**
 * Whether a count includes what a reservation is for. The API server stores a resize over the object that it sent us,
 * so once the pod has reached that generation, the resize is included or never will be.
 */
export function isSeen(count: PodCount, { uid, generation }: Pick<Reservation, 'uid' | 'generation'>): boolean {
  if (generation === undefined) return count.generationOf(uid) !== undefined;
  return (count.generationOf(podUidOf(uid)) ?? 0) >= generation;
}
