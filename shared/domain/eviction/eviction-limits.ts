/** How many evictions there may be on a node; 0 means none, never unlimited. */
export interface EvictionLimits {
  /** Outstanding at one moment. */
  readonly concurrent: number;
  readonly perMinute: number;
  readonly perTenMinutes: number;
  readonly perNamespacePerTenMinutes: number;
}

/** `Severe`: a hard threshold is met. `LastChance`: memory will be exhausted before a second eviction could follow. */
export type EvictionUrgency = 'Severe' | 'LastChance';

/** What holds where no NodePressurePolicy says otherwise. */
export const DEFAULT_LIMITS: EvictionLimits = {
  concurrent: 1,
  perMinute: 2,
  perTenMinutes: 4,
  perNamespacePerTenMinutes: 4,
};
