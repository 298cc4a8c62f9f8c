import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addQuantities, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';
import { largestNamespaces } from './largest-namespaces.ts';
import { ledgerPlaces } from './ledger-size.ts';
import { podUidOf, type Reservation } from './ledger-state.ts';

/** A pod that exists, and what it costs. */
export interface CountedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly amounts: Amounts;
  /** Of its spec; absent where the API server does not number them. */
  readonly generation?: number;
}

/** What all pods that a quota counts cost together, in the resources that it limits, and which pods they are. */
export interface PodCount {
  /** Of each pod, by UID; 0 where it has none. */
  readonly generations: ReadonlyMap<string, number>;
  readonly total: Amounts;
  /** Of the namespaces that hold most. */
  readonly byNamespace: ReadonlyMap<string, Amounts>;
}

/** A count under way: pods are added one by one, so that a large cluster need not be held in memory. */
export interface PodCounter {
  /** A pod that was added before is passed over. */
  add(pod: CountedPod): void;
  /** Everything added so far. */
  count(): PodCount;
}

/**
 * Whether what a reservation is for shows in a count. The API server stores a resize over the very object that it showed
 * us, so once the pod has reached that generation the resize is in it, or never will be.
 */
export function isSeen(
  { generations }: PodCount,
  { uid, generation }: Pick<Reservation, 'uid' | 'generation'>,
): boolean {
  return generation === undefined ? generations.has(uid) : (generations.get(podUidOf(uid)) ?? 0) >= generation;
}

/** A count of no pods yet, in the resources of `hard`. */
export function createPodCounter(hard: Amounts): PodCounter {
  const names = [...hard.keys()];
  const generations = new Map<string, number>();
  const total = names.map(() => ZERO);
  const byNamespace = new Map<string, Quantity[]>();

  function add({ uid, namespace, amounts, generation = 0 }: CountedPod): void {
    if (generations.has(uid)) return;
    generations.set(uid, generation);
    const added = names.map((name) => amounts.get(name) ?? ZERO);
    increase(total, added);
    const own = byNamespace.get(namespace);
    if (own === undefined) byNamespace.set(namespace, added);
    else increase(own, added);
  }

  function named(quantities: readonly Quantity[]): Amounts {
    return new Map(names.map((name, index) => [name, quantities[index] ?? ZERO]));
  }

  function count(): PodCount {
    const largest = largestNamespaces(byNamespace, [...hard.values()], ledgerPlaces(hard).namespaces);
    return {
      generations,
      total: named(total),
      byNamespace: new Map(largest.map((namespace) => [namespace, named(byNamespace.get(namespace) ?? [])])),
    };
  }
  return { add, count };
}

/** Both in the same order of resources. */
function increase(sums: Quantity[], added: readonly Quantity[]): void {
  added.forEach((amount, index) => (sums[index] = addQuantities(sums[index] ?? ZERO, amount)));
}
