import {
  addQuantities,
  type Quantity,
  subtractQuantities,
  ZERO,
  type Amounts,
} from '#shared/domain/quantity/quantity.ts';
import type { PriorityLevel } from '#shared/domain/quota/priority-quota.ts';

/** The total cost of the pods of one priority level in one namespace, without a list of them. */
export interface PodGroup {
  readonly namespace: NamespacePods;
  readonly key: string;
  /** `undefined` if it cannot be read. */
  readonly level: PriorityLevel | undefined;
  /** In the order of the cost table's names. */
  readonly sums: Quantity[];
  pods: number;
  /** Names of pods that cannot be read, by UID; nearly always empty. */
  readonly unreadable: Map<string, string>;
}

/** A namespace in which quotas are enforced, as stored. */
export type StoredNamespace = Readonly<Pick<NamespacePods, 'name' | 'labels' | 'revision'>>;

/** A namespace in which quotas are enforced, and its pods in groups. */
export interface NamespacePods {
  readonly name: string;
  labels: ReadonlyMap<string, string>;
  /** The resourceVersion of the Namespace. */
  revision: number;
  readonly groups: Map<string, PodGroup>;
  readonly byName: Map<string, NamedPod>;
  /** The latest change of one of its pods that is included. */
  holds: number;
  /** The epoch of the view in which its pods were last listed. */
  epoch: number;
  /** The revision reached when that epoch ended; -1 if it has never been listed. */
  reached: number;
}

/** The pod that has a name now. */
export interface NamedPod {
  readonly group: PodGroup;
  /** `undefined` if it cannot be read. */
  readonly cost: Cost | undefined;
}

/** The group for pods of a level. */
export function groupOf(namespace: NamespacePods, level: PriorityLevel | undefined, names: number): PodGroup {
  const key = level === undefined ? '' : `${level.priority} ${level.className}`;
  const found = namespace.groups.get(key);
  if (found !== undefined) return found;
  const sums = Array.from({ length: names }, () => ZERO);
  const group: PodGroup = { namespace, key, level, sums, pods: 0, unreadable: new Map() };
  namespace.groups.set(key, group);
  return group;
}

/** Adds a pod; one without a cost cannot be read. */
export function join(group: PodGroup, cost: Cost | undefined): void {
  group.pods += 1;
  change(group.sums, cost, addQuantities);
}

/** Removes a pod, and the group with the last one. */
export function leave(group: PodGroup, cost: Cost | undefined): void {
  group.pods -= 1;
  if (group.pods === 0) group.namespace.groups.delete(group.key);
  change(group.sums, cost, subtractQuantities);
}

function change(sums: Quantity[], cost: Cost | undefined, by: typeof addQuantities): void {
  if (cost === undefined) return;
  for (const [at, amount] of cost.amounts.entries()) sums[at] = by(sums[at] ?? ZERO, amount);
}

/** Receives pods as they appear and disappear. A pod without a cost cannot be read. */
export interface PodFollower {
  podJoined(group: PodGroup, cost: Cost | undefined): void;
  podLeft(group: PodGroup, cost: Cost | undefined): void;
  /** A later change of one of the namespace's pods is known, whatever it affects. */
  podsMovedOn(namespace: NamespacePods): void;
  /** Its labels have changed, or it was added or released. */
  namespaceChanged(namespace: NamespacePods): void;
}

/** The cost of a pod: an amount for each name of its table, in order. Pods with equal costs share one. */
export interface Cost {
  readonly amounts: readonly Quantity[];
  readonly key: string;
  uses: number;
}

/** The costs of pods, each stored once: most pods of a cluster are copies of a few. */
export class CostTable {
  readonly names: readonly string[];
  readonly #costs = new Map<string, Cost>();

  /** Amounts of other names are dropped. */
  constructor(names: readonly string[]) {
    this.names = names;
  }

  take(amounts: Amounts): Cost {
    const kept = this.names.map((name) => amounts.get(name) ?? ZERO);
    const key = kept.map(({ mantissa, exponent, format }) => `${mantissa}e${exponent}${format}`).join(' ');
    const cost = this.#costs.get(key) ?? { amounts: kept, key, uses: 0 };
    if (cost.uses === 0) this.#costs.set(key, cost);
    cost.uses += 1;
    return cost;
  }

  /** Whether amounts equal this cost. */
  isCost({ amounts: present }: Cost, amounts: Amounts): boolean {
    return this.names.every((name, at) => isEqual(present[at] ?? ZERO, amounts.get(name) ?? ZERO));
  }

  giveBack(cost: Cost): void {
    cost.uses -= 1;
    if (cost.uses === 0) this.#costs.delete(cost.key);
  }

  get size(): number {
    return this.#costs.size;
  }
}

function isEqual(a: Quantity, b: Quantity): boolean {
  return a.mantissa === b.mantissa && a.exponent === b.exponent;
}
