import { countsPod, prepareBudget, type BudgetEntry } from './budget-entry.ts';
import { forgetSheet, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import { isSameSelector } from '#shared/domain/labels/label-selector.ts';
import type { PlacedPod } from './placed-pod.ts';
import { placeOf } from './snapshot-pods.ts';

/** Adds or replaces a budget. Changed counters cost nothing; a new or changed selector looks at every pod. */
export function putBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const known = snapshot.budgets.get(budgetKey(budget));
  if (known !== undefined && isSameSelector(known.budget.selector, budget.selector)) {
    known.budget = budget;
    return;
  }
  removeBudget(snapshot, budget);
  const entry = prepareBudget(budget, freeSlot(snapshot));
  snapshot.budgets.set(budgetKey(budget), entry);
  snapshot.budgetSlots[entry.slot] = entry;
  for (const placed of snapshot.placedPods.values()) {
    if (countsPod(entry, placed.pod)) change(snapshot, placed, [...placed.budgets, entry]);
  }
}

/** Removes a budget, known by its namespace and name; looks at every pod. */
export function removeBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const entry = snapshot.budgets.get(budgetKey(budget));
  if (entry === undefined) return;
  snapshot.budgets.delete(budgetKey(budget));
  snapshot.budgetSlots[entry.slot] = undefined;
  for (const placed of snapshot.placedPods.values()) {
    if (placed.budgets.includes(entry)) change(snapshot, placed, without(placed.budgets, entry));
  }
}

function freeSlot({ budgetSlots }: ClusterSnapshot): number {
  const free = budgetSlots.indexOf(undefined);
  return free < 0 ? budgetSlots.length : free;
}

function change(snapshot: ClusterSnapshot, placed: PlacedPod, budgets: readonly BudgetEntry[]): void {
  placed.budgets = budgets;
  forgetSheet(snapshot, placeOf(placed.pod));
}

function without(budgets: readonly BudgetEntry[], entry: BudgetEntry): readonly BudgetEntry[] {
  return budgets.filter((other) => other !== entry);
}

function budgetKey(budget: DisruptionBudget): string {
  return `${budget.namespace}/${budget.name}`;
}
