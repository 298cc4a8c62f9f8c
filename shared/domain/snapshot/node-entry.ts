import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { Occupancy, PlacedPod } from './placed-pod.ts';

/** A node as the scheduling decisions see it. */
export interface Node {
  readonly name: string;
  readonly uid: string;
  /** As the API server says. */
  readonly createdAt?: Instant;
  readonly labels: ReadonlyMap<string, string>;
  readonly taints: readonly Taint[];
  /** `spec.unschedulable`: cordoned. */
  readonly isUnschedulable: boolean;
  /** Its condition `Ready` is there and not True; absent where the node does not say. */
  readonly isUnready?: boolean;
  /** Since when, as the node says; absent where it does not. */
  readonly unreadySince?: Instant;
  /** Allocatable resources; a missing resource counts as 0. */
  readonly allocatable: Amounts;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** With these an autoscaler empties a node that it removes, as a person does who drains it. */
export const DRAIN_TAINTS: readonly string[] = [
  'ToBeDeletedByClusterAutoscaler',
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
];

/** A node in a snapshot. */
export interface NodeEntry {
  readonly node: Node;
  /** By column. */
  readonly allocatable: readonly Whole[];
  readonly allowedPods: Whole;
  readonly occupancy: Occupancy;
  /** Absent after a change, until it is needed. */
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
  /** The priorities of these pods. */
  readonly uids: readonly string[];
  readonly podCount: number;
  /** Indexes of the pods that are terminating. */
  readonly terminating: readonly number[];
  /** Pending pods are nominated to this node. */
  readonly isPromised: boolean;
  /** Every sum of amounts is exact in doubles. */
  readonly isExact: boolean;
  /** `undefined` if no disruption budget counts a pod of the node. */
  readonly budgets: BudgetSlots | undefined;
}

/** Which disruption budgets count which pods. */
export interface BudgetSlots {
  /** Slots of the budgets, pod by pod. */
  readonly slots: Int32Array;
  /** Where the slots of each pod begin; one more entry marks the end of the last ones. */
  readonly starts: Int32Array;
}

/** Sums of a few amounts up to here are exact in doubles. */
const LARGEST_EXACT = 2 ** 50;
const NONE: readonly number[] = [];

/** The sheet of a node, rebuilt after a change. */
export function sheetOf(entry: NodeEntry): NodeSheet {
  entry.sheet ??= makeSheet(entry);
  return entry.sheet;
}

/** The priority of a pod, by a valid index of the sheet. */
export function priorityAt({ numbers, width }: NodeSheet, index: number): number {
  return numbers[(index + 1) * (width + 1)] as number;
}

/** True for amounts whose sums are exact in doubles. */
export function areExact(amounts: readonly Whole[]): boolean {
  return amounts.every((amount) => amount >= 0 && amount <= LARGEST_EXACT);
}

function makeSheet({ allocatable, allowedPods, occupancy }: NodeEntry): NodeSheet {
  const { nominated, pods, requested } = occupancy;
  const width = Math.max(allocatable.length, requested.length);
  const numbers = new Float64Array((pods.length + 1) * (width + 1));
  numbers[0] = Number(minus(allowedPods, pods.length));
  for (let column = 0; column < width; column += 1) {
    numbers[column + 1] = Number(minus(allocatable[column] ?? 0, requested[column] ?? 0));
  }
  pods.forEach(({ priority, row }, index) => numbers.set([priority, ...row.map(Number)], (index + 1) * (width + 1)));
  return {
    numbers,
    width,
    pods,
    uids: pods.map(({ pod }) => pod.uid),
    podCount: pods.length,
    terminating: terminatingIn(pods),
    isPromised: nominated.length > 0,
    isExact: [allocatable, requested, ...pods.map(({ row }) => row)].every(areExact),
    budgets: budgetsOf(pods.map(({ budgets }) => budgets.map(({ slot }) => slot))),
  };
}

function terminatingIn(pods: NodeSheet['pods']): readonly number[] {
  const found = pods.flatMap(({ pod }, index) => (pod.deletion === undefined ? [] : [index]));
  return found.length === 0 ? NONE : found;
}

function budgetsOf(slotsByPod: readonly (readonly number[])[]): BudgetSlots | undefined {
  const slots = slotsByPod.flat();
  if (slots.length === 0) return undefined;
  const starts = new Int32Array(slotsByPod.length + 1);
  slotsByPod.forEach(({ length }, index) => (starts[index + 1] = (starts[index] as number) + length));
  return { slots: Int32Array.from(slots), starts };
}
