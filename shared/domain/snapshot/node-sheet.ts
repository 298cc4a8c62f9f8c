import type { BudgetSlots, NodeEntry, NodeSheet } from './node-entry.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';

/** Sums of a few amounts up to here are exact in doubles. */
const LARGEST_EXACT = 2 ** 50;
const NONE: readonly number[] = [];

/** The sheet of a node, made anew after a change. */
export function sheetOf(entry: NodeEntry): NodeSheet {
  entry.sheet ??= makeSheet(entry);
  return entry.sheet;
}

/** The priority of a pod, by an index that the sheet has. */
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
