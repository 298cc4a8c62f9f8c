import { isReady } from '#shared/domain/pod/pod-conditions.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { BudgetEntry, DisruptionBudget, PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/**
 * What the API server answers to an eviction, as far as PodDisruptionBudgets decide it. `Free`: no budget is asked, or it
 * does not count the pod. `Counted`: the eviction uses one disruption of the budget. `Refused`: it is answered with 429,
 * or with 500 for several budgets and 403 for one that its controller has left unusable.
 */
export type BudgetAnswer =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Counted'; readonly budget: DisruptionBudget }
  | { readonly kind: 'Refused'; readonly why: Refusal; readonly budgets: readonly DisruptionBudget[] };

type Refusal = 'Several' | 'Stale' | 'Unusable' | 'Spent';

const FREE: BudgetAnswer = { kind: 'Free' };
/** More disrupted pods than a budget may list. */
const MAX_DISRUPTED = 2_000;

/**
 * The answer for a pod, given the budgets whose selector matches it; an empty selector matches every pod here.
 * `pkg/registry/core/pod/storage/eviction.go`.
 */
export function askBudgets(pod: Pod, budgets: readonly DisruptionBudget[]): BudgetAnswer {
  const [budget] = budgets;
  if (budget === undefined || goesFreely(pod)) return FREE;
  if (budgets.length > 1) return { kind: 'Refused', why: 'Several', budgets };
  if (!isReady(pod) && budget.allowsUnready === true) return FREE;
  const why = refusalOf(budget);
  return why === undefined ? { kind: 'Counted', budget } : { kind: 'Refused', why, budgets };
}

/** A pod that has not started, has ended or is terminating. */
function goesFreely({ status, deletion }: Pod): boolean {
  const { phase = '' } = status;
  return deletion !== undefined || phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed';
}

/** Why a budget allows no eviction now by any caller; `undefined` if it does. */
export function refusalOf({ isStale, disruptionsAllowed, disruptedPods }: DisruptionBudget): Refusal | undefined {
  if (isStale === true) return 'Stale';
  if (disruptionsAllowed < 0 || disruptedPods.size > MAX_DISRUPTED) return 'Unusable';
  return disruptionsAllowed === 0 ? 'Spent' : undefined;
}

/** The budgets that the API server asks about a pod. An empty selector selects every pod of its namespace here. */
export function budgetsToAsk(
  { budgets }: Pick<ClusterSnapshot, 'budgets'>,
  placed: Pick<PlacedPod, 'pod' | 'budgets'>,
): readonly BudgetEntry[] {
  const ofNamespace = budgets.get(placed.pod.namespace);
  if (ofNamespace === undefined) return placed.budgets;
  const all = [...ofNamespace.values()].filter(({ selector }) => selector.isEmpty);
  return all.length === 0 ? placed.budgets : [...new Set([...placed.budgets, ...all])];
}

/** The answer for a pod of a snapshot. */
export function askSnapshot(
  snapshot: Pick<ClusterSnapshot, 'budgets'>,
  placed: Pick<PlacedPod, 'pod' | 'budgets'>,
): BudgetAnswer {
  const entries = budgetsToAsk(snapshot, placed);
  return entries.length === 0
    ? FREE
    : askBudgets(
        placed.pod,
        entries.map(({ budget }) => budget),
      );
}
