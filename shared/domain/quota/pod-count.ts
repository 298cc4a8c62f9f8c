import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addQuantities, type Quantity } from '#shared/domain/model/quantity.ts';

/** A pod that exists, and what it costs. */
export interface CountedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly amounts: Amounts;
}

/** What all pods that a quota counts cost together, in the resources that it limits, and which pods they are. */
export interface PodCount {
  readonly uids: ReadonlySet<string>;
  readonly total: Amounts;
  readonly byNamespace: ReadonlyMap<string, Amounts>;
}

/** A count under way: pods are added one by one, so that a large cluster need not be held in memory. */
export interface PodCounter {
  add(pod: CountedPod): void;
  /** What was added so far; a later `add` changes it. */
  readonly count: PodCount;
}

/** A count of no pods yet, in the resources of `hard`. */
export function createPodCounter(hard: Amounts): PodCounter {
  const uids = new Set<string>();
  const total = new Map<string, Quantity>();
  const byNamespace = new Map<string, Map<string, Quantity>>();

  function add({ uid, namespace, amounts }: CountedPod): void {
    if (uids.has(uid)) return;
    uids.add(uid);
    const own = byNamespace.get(namespace) ?? new Map<string, Quantity>();
    byNamespace.set(namespace, own);
    for (const name of hard.keys()) {
      const amount = amounts.get(name);
      if (amount === undefined) continue;
      increase(total, name, amount);
      increase(own, name, amount);
    }
  }
  return { add, count: { uids, total, byNamespace } };
}

function increase(sum: Map<string, Quantity>, name: string, amount: Quantity): void {
  const present = sum.get(name);
  sum.set(name, present === undefined ? amount : addQuantities(present, amount));
}
