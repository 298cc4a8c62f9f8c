import { countsPod, prepareBudget } from './budget-entry.ts';
import type { ClusterSnapshot } from './cluster-snapshot.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import { isSameSelector } from './label-selector.ts';

/** Adds or replaces a budget. Changed counters cost nothing; a new or changed selector looks at every pod. */
export function putBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const known = snapshot.budgets.get(budgetKey(budget));
  if (known !== undefined && isSameSelector(known.budget.selector, budget.selector)) {
    known.budget = budget;
    return;
  }
  removeBudget(snapshot, budget);
  const entry = prepareBudget(budget);
  snapshot.budgets.set(budgetKey(budget), entry);
  for (const placed of snapshot.placedPods.values()) if (countsPod(entry, placed.pod)) placed.budgets.push(entry);
}

/** Removes a budget, known by its namespace and name; looks at every pod. */
export function removeBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const entry = snapshot.budgets.get(budgetKey(budget));
  if (entry === undefined) return;
  snapshot.budgets.delete(budgetKey(budget));
  for (const { budgets } of snapshot.placedPods.values()) {
    if (budgets.includes(entry)) budgets.splice(budgets.indexOf(entry), 1);
  }
}

function budgetKey(budget: DisruptionBudget): string {
  return `${budget.namespace}/${budget.name}`;
}
