import type { BudgetEntry } from '#shared/domain/model/budget-entry.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';

/**
 * The pods that break a disruption budget when all the given ones leave, in this order. Each uses up every budget that
 * counts it, also the pods that are put back later. `plugins/defaultpreemption/default_preemption.go`
 * filterPodsWithPDBViolation.
 */
export function podsBreakingBudgets(leaving: readonly PlacedPod[]): ReadonlySet<PlacedPod> {
  const used = new Map<BudgetEntry, number>();
  return new Set(leaving.filter((placed) => placed.budgets.length > 0 && breaksBudget(placed, used)));
}

function breaksBudget({ budgets, pod }: PlacedPod, used: Map<BudgetEntry, number>): boolean {
  let isBroken = false;
  for (const entry of budgets) {
    if (entry.budget.disruptedPods.has(pod.name)) continue;
    const count = (used.get(entry) ?? 0) + 1;
    used.set(entry, count);
    isBroken ||= count > entry.budget.disruptionsAllowed;
  }
  return isBroken;
}
