import type { Amounts } from '#shared/domain/model/amounts.ts';
import { podUidOf, type Reservation } from './ledger-state.ts';

/** What all pods that a quota counts cost together, in the resources that it limits, and which pods they are. */
export interface PodCount {
  readonly total: Amounts;
  /** Of the namespaces that hold most; where there are many, it may be what it was before unless it must be exact. */
  byNamespace(isExact: boolean): ReadonlyMap<string, Amounts>;
  /** The generation of a pod that is in the count, 0 where the API server does not number them; `undefined` for others. */
  generationOf(uid: string): number | undefined;
}

/**
 * Whether what a reservation is for shows in a count. The API server stores a resize over the very object that it showed
 * us, so once the pod has reached that generation the resize is in it, or never will be.
 */
export function isSeen(count: PodCount, { uid, generation }: Pick<Reservation, 'uid' | 'generation'>): boolean {
  if (generation === undefined) return count.generationOf(uid) !== undefined;
  return (count.generationOf(podUidOf(uid)) ?? 0) >= generation;
}
