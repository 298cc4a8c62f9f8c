import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/**
 * The one PodDisruptionBudget for which the API server is sure to answer an eviction with 429; `undefined` where it may
 * let the pod go, or answers something else: a pod that does not run or is not Ready, several budgets
 * (`pkg/registry/core/pod/storage/eviction.go`).
 */
export function spentBudget(pod: Pod, budgets: readonly DisruptionBudget[]): DisruptionBudget | undefined {
  if (pod.deletion !== undefined || pod.status.phase !== 'Running' || !isReady(pod)) return undefined;
  const [budget, ...others] = budgets.filter((each) => covers(each, pod));
  return others.length === 0 && budget?.disruptionsAllowed === 0 ? budget : undefined;
}

/** Here an empty selector selects every pod of the namespace. */
function covers({ namespace, selector }: DisruptionBudget, pod: Pod): boolean {
  return namespace === pod.namespace && prepareSelector(selector).matches(pod.labels);
}

function isReady({ status }: Pod): boolean {
  return status.conditions.some((each) => each.type === 'Ready' && each.status === 'True');
}
