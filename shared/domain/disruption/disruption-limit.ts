import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import type { LimitRule, RateLimit } from './limit-rule.ts';

/** A `plimsoll.dev/v1alpha1` DisruptionLimit, without its status. */
export interface DisruptionLimit extends Omit<LimitRule, 'key'> {
  readonly namespace: string;
  readonly name: string;
  /** The pods of its namespace that it covers; an empty selector covers all of them. */
  readonly selector: PreparedSelector;
}

/** What owners without limit and budget get, by the priority of their pods (S3-18). */
export interface DefaultLimit extends Pick<LimitRule, 'minAvailable'> {
  readonly min: number;
  readonly max: number;
  readonly limits: readonly RateLimit[];
}

/** What happens to a PodDisruptionBudget that forbids every eviction (S3-17). */
export const BUDGET_RESPONSES = ['Show', 'Warn', 'Deny'] as const;
export type BudgetResponse = (typeof BUDGET_RESPONSES)[number];

/** The one DisruptionPolicy of a cluster. */
export interface DisruptionPolicy {
  readonly name: string;
  /** The first one whose range holds the priority counts. */
  readonly defaults: readonly DefaultLimit[];
  readonly forbiddingBudgets: BudgetResponse;
}

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
