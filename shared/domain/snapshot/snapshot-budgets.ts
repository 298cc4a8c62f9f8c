import { countsPod, prepareBudget, type BudgetEntry } from './budget-entry.ts';
import { forgetSheet, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { DisruptionBudget } from './disruption-budget.ts';
import { isSameSelector } from '#shared/domain/labels/label-selector.ts';
import type { PlacedPod } from './placed-pod.ts';
import { podsIn } from './pods-by-namespace.ts';
import { placeOf } from './snapshot-pods.ts';

/** Adds or replaces a budget. Changed counters cost nothing; a new or changed selector looks at the pods of the namespace. */
export function putBudget(snapshot: ClusterSnapshot, budget: DisruptionBudget): void {
  const { namespace, name } = budget;
  const known = snapshot.budgets.get(namespace)?.get(name);
  if (known !== undefined && isSameSelector(known.budget.selector, budget.selector)) {
    known.budget = budget;
    return;
  }
  removeBudget(snapshot, budget);
  const entry = prepareBudget(budget, snapshot.freeBudgetSlots.pop() ?? snapshot.budgetSlots.length);
  snapshot.budgetSlots[entry.slot] = entry;
  enroll(snapshot, entry);
  for (const placed of podsIn(snapshot, namespace)) {
    if (countsPod(entry, placed.pod)) change(snapshot, placed, [...placed.budgets, entry]);
  }
}

/** Removes a budget, known by its namespace and name; looks at the pods of the namespace. */
export function removeBudget(snapshot: ClusterSnapshot, { namespace, name }: DisruptionBudget): void {
  const ofNamespace = snapshot.budgets.get(namespace);
  const entry = ofNamespace?.get(name);
  if (ofNamespace === undefined || entry === undefined) return;
  ofNamespace.delete(name);
  if (ofNamespace.size === 0) snapshot.budgets.delete(namespace);
  snapshot.budgetSlots[entry.slot] = undefined;
  snapshot.freeBudgetSlots.push(entry.slot);
  for (const placed of podsIn(snapshot, namespace)) {
    if (placed.budgets.includes(entry)) change(snapshot, placed, without(placed.budgets, entry));
  }
}

function enroll({ budgets }: ClusterSnapshot, entry: BudgetEntry): void {
  const { namespace, name } = entry.budget;
  const ofNamespace = budgets.get(namespace) ?? new Map<string, BudgetEntry>();
  budgets.set(namespace, ofNamespace.set(name, entry));
}

function change(snapshot: ClusterSnapshot, placed: PlacedPod, budgets: readonly BudgetEntry[]): void {
  placed.budgets = budgets;
  forgetSheet(snapshot, placeOf(placed.pod));
}

function without(budgets: readonly BudgetEntry[], entry: BudgetEntry): readonly BudgetEntry[] {
  return budgets.filter((other) => other !== entry);
}
