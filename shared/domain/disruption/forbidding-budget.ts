/** A PodDisruptionBudget as it is written, and what its controller last found. */
export interface WrittenBudget {
  readonly maxUnavailable: number | string | undefined;
  readonly minAvailable: number | string | undefined;
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** Why a budget never allows an eviction; `undefined` if it may allow one (S3-17). */
export function forbidsEverything(budget: WrittenBudget): 'maxUnavailable' | 'minAvailable' | undefined {
  const { maxUnavailable, minAvailable, expectedPods, desiredHealthy } = budget;
  if (maxUnavailable !== undefined && /^0+%?$/.test(String(maxUnavailable))) return 'maxUnavailable';
  if (minAvailable === undefined) return undefined;
  const isWhole = /^0*[1-9][0-9][0-9]+%$/.test(String(minAvailable));
  // A number of as many pods as there are: only the present scale shows it.
  const isAll = expectedPods > 0 && desiredHealthy >= expectedPods;
  return isWhole || isAll ? 'minAvailable' : undefined;
}
