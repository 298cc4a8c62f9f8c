import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry, BudgetSlots } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';

/** The disruption budgets of a snapshot as numbers by slot, for one plan. */
export interface BudgetAccount {
  readonly allowed: Float64Array;
  /** Pods whose disruption the API server has already counted; `undefined` where there are none. */
  readonly disrupted: readonly (ReadonlySet<string> | undefined)[];
  /** All 0 between two questions. */
  readonly used: Int32Array;
}

type NameOf = (index: number) => string;

const NONE: readonly number[] = [];

/** Those of the leaving pods, by index and in their order, that break a budget, and the rest. */
export interface BudgetSplit {
  readonly violators: readonly number[];
  readonly others: readonly number[];
}

export function openAccount({ budgetSlots }: ClusterSnapshot): BudgetAccount {
  return {
    allowed: Float64Array.from(budgetSlots, (entry) => entry?.budget.disruptionsAllowed ?? 0),
    disrupted: budgetSlots.map((entry) => orNothing(entry?.budget.disruptedPods)),
    used: new Int32Array(budgetSlots.length),
  };
}

/** No look-up by name is needed in a set that is empty. */
function orNothing(names: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  return names?.size === 0 ? undefined : names;
}

/**
 * Splits the pods that would leave a node. Each uses up every budget that counts it, also the pods that are put back
 * later. `plugins/defaultpreemption/default_preemption.go` filterPodsWithPDBViolation.
 */
export function splitByBudgets(account: BudgetAccount, entry: NodeEntry, leaving: readonly number[]): BudgetSplit {
  const { budgets } = sheetOf(entry);
  if (budgets === undefined) return { violators: NONE, others: leaving };
  const violators: number[] = [];
  const others: number[] = [];
  const nameOf = (index: number): string => entry.occupancy.pods[index]?.pod.name ?? '';
  for (const index of leaving) (charge(account, budgets, index, nameOf) ? violators : others).push(index);
  for (const index of leaving) clear(account, budgets, index);
  return { violators, others };
}

/** Charges a pod to its budgets; true where one is broken. Indexes stay within the lists, which the types cannot tell. */
function charge(
  { allowed, disrupted, used }: BudgetAccount,
  budgets: BudgetSlots,
  index: number,
  nameOf: NameOf,
): boolean {
  const end = budgets.starts[index + 1] as number;
  let isBroken = false;
  for (let at = budgets.starts[index] as number; at < end; at += 1) {
    const slot = budgets.slots[at] as number;
    if (disrupted[slot]?.has(nameOf(index)) === true) continue;
    const count = (used[slot] as number) + 1;
    used[slot] = count;
    isBroken ||= count > (allowed[slot] as number);
  }
  return isBroken;
}

/** Not all at once: a cluster may have many more budgets than one node. */
function clear({ used }: BudgetAccount, { slots, starts }: BudgetSlots, index: number): void {
  const end = starts[index + 1] as number;
  for (let at = starts[index] as number; at < end; at += 1) used[slots[at] as number] = 0;
}
