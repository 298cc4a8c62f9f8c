import type { Pod } from '#shared/domain/pod/pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';

/**
 * The disruption budgets of a pod that allow no further disruption, so that preempting the pod breaches them; `debitOf`
 * tells what preemptions have used up that the budget's status does not show yet. As in `splitByBudgets`, a disruption
 * that the API server has already counted breaches none. Mechanism S1-17.
 */
export function spentBudgets(
  { name }: Pick<Pod, 'name'>,
  budgets: readonly DisruptionBudget[],
  debitOf: (budget: DisruptionBudget) => number,
): readonly DisruptionBudget[] {
  return budgets.filter(
    (budget) => !budget.disruptedPods.has(name) && budget.disruptionsAllowed - debitOf(budget) <= 0,
  );
}
