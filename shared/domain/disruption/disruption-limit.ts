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
