import { DAY_MS } from '#shared/domain/base/durations.ts';

/** What an operator decides about the spare room of the nodes of a policy. */
export interface SpareSettings {
  /** Measured in a dry run, offered to pods with Enforce, neither where it is disabled. */
  readonly mode: 'Disabled' | 'DryRun' | 'Enforce';
  /** Of a hundred rises in usage, so many must find room without spare pods making way. */
  readonly percentile: number;
  /** Half of what was seen is forgotten after this time. */
  readonly windowMs: number;
  /** Share of the capacity that is kept free above the soft threshold. */
  readonly margin: number;
  /** Most that is lent, as a share of what pods can use. */
  readonly max: number;
}

/** Without `spec.spare` nothing is measured, so that it costs nothing. */
export const NO_SPARE: SpareSettings = { mode: 'Disabled', percentile: 99, windowMs: DAY_MS, margin: 0.025, max: 1 };
