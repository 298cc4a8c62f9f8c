import type { Node } from './node.ts';
import type { Occupancy } from './occupancy.ts';
import type { PlacedPod } from './placed-pod.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';

/** A node in a snapshot. */
export interface NodeEntry {
  readonly node: Node;
  /** By column. */
  readonly allocatable: readonly Whole[];
  readonly allowedPods: Whole;
  readonly occupancy: Occupancy;
  /** Absent after a change, until it is asked for. */
  sheet: NodeSheet | undefined;
}

/**
 * A node and its pods as numbers in one piece of memory: a plan that looks at every pod of a large cluster spends its
 * time waiting for memory. Rows are `width + 1` long. The first row is what is free: pod slots, then each resource by
 * column. Then a row for each pod in order of importance: its priority, then what it takes.
 */
export interface NodeSheet {
  readonly numbers: Float64Array;
  readonly width: number;
  /** In order of importance. */
  readonly pods: readonly PlacedPod[];
  /** Of these pods. */
  readonly uids: readonly string[];
  readonly podCount: number;
  /** Indexes of the pods that are terminating. */
  readonly terminating: readonly number[];
  /** Pending pods were promised this node. */
  readonly isPromised: boolean;
  /** Every sum of amounts is exact in doubles. */
  readonly isExact: boolean;
  /** `undefined` where no disruption budget counts a pod of the node. */
  readonly budgets: BudgetSlots | undefined;
}

/** Which disruption budgets count which pods. */
export interface BudgetSlots {
  /** Slots of the budgets, all pods one after the other. */
  readonly slots: Int32Array;
  /** Where the slots of each pod begin; one more entry says where the last ones end. */
  readonly starts: Int32Array;
}
