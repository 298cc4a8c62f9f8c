import type { DisruptionBudget } from './disruption-budget.ts';
import { prepareSelector, type Selector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/** A disruption budget in a snapshot; its counters change often, its selector hardly ever. */
export interface BudgetEntry {
  budget: DisruptionBudget;
  readonly selector: Selector;
  /** Its place among the budgets of the snapshot, which another may take once it is gone. */
  readonly slot: number;
}

export function prepareBudget(budget: DisruptionBudget, slot: number): BudgetEntry {
  return { budget, selector: prepareSelector(budget.selector), slot };
}

/**
 * True where the budget counts the pod: same namespace, a selector that is not empty and matches, a pod with labels.
 * `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` filterPodsWithPDBViolation.
 */
export function countsPod(entry: BudgetEntry, pod: Pod): boolean {
  if (entry.budget.namespace !== pod.namespace || pod.labels.size === 0) return false;
  return !entry.selector.isEmpty && entry.selector.matches(pod.labels);
}
