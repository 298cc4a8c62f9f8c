import { addQuantities, subtractQuantities, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';
import type { PriorityLevel } from '#shared/domain/quota/priority-quota.ts';
import type { Cost } from './cost-table.ts';

/** The pods of one priority level in one namespace: what they cost together, without a list of them. */
export interface PodGroup {
  readonly home: NamespacePods;
  readonly key: string;
  /** `undefined` where it cannot be read. */
  readonly level: PriorityLevel | undefined;
  /** In the order of the cost table's names. */
  readonly sums: Quantity[];
  pods: number;
  /** Names of pods that cannot be read, by UID; there is hardly ever any. */
  readonly unreadable: Map<string, string>;
}

/** A namespace in which quotas are in force, and its pods in groups. */
export interface NamespacePods {
  readonly name: string;
  labels: ReadonlyMap<string, string>;
  /** The resourceVersion of the Namespace. */
  revision: number;
  readonly groups: Map<string, PodGroup>;
  /** The latest change of one of its pods that is in here. */
  holds: number;
  /** In which epoch of the view its pods were last listed. */
  epoch: number;
  /** What was known of it when that epoch ended; -1 where it has never been listed. */
  reached: number;
}

/** The group for pods of a level. */
export function groupOf(home: NamespacePods, level: PriorityLevel | undefined, names: number): PodGroup {
  const key = level === undefined ? '' : `${level.priority} ${level.className}`;
  const found = home.groups.get(key);
  if (found !== undefined) return found;
  const sums = Array.from({ length: names }, () => ZERO);
  const group: PodGroup = { home, key, level, sums, pods: 0, unreadable: new Map() };
  home.groups.set(key, group);
  return group;
}

/** A pod joins; one without a cost cannot be read. */
export function join(group: PodGroup, cost: Cost | undefined): void {
  group.pods += 1;
  change(group.sums, cost, addQuantities);
}

/** A pod leaves; the last one takes the group with it. */
export function leave(group: PodGroup, cost: Cost | undefined): void {
  group.pods -= 1;
  if (group.pods === 0) group.home.groups.delete(group.key);
  change(group.sums, cost, subtractQuantities);
}

function change(sums: Quantity[], cost: Cost | undefined, by: typeof addQuantities): void {
  if (cost === undefined) return;
  for (const [at, amount] of cost.amounts.entries()) sums[at] = by(sums[at] ?? ZERO, amount);
}
