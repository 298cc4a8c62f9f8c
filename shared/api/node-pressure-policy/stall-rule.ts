import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Mode } from './mode.ts';

/**
 * Which resource's PSI; `io.pressure` is reported and never evicts: no evidence distinguishes a busy disk from a
 * shortage.
 */
export type StallSignal = 'memory.pressure' | 'cpu.pressure';

/** How long tasks must stall before the agent evicts a pod. */
export interface StallRule {
  readonly signal: StallSignal;
  readonly share: 'some' | 'full';
  /** The short window shows that tasks still stall, the long one that this is no brief peak. */
  readonly short: StallLimit;
  readonly long: StallLimit;
  /** The resource that must be short as well: stalls alone prove no shortage. */
  readonly evidence: ShortageLimit;
  /** How long all of this must last, in addition to the windows. */
  readonly gracePeriodMs: number;
  readonly mode: Mode;
}

/** Less than `below` of the signal must be left, as an amount (bytes, cores) or a share of its capacity. */
export interface ShortageLimit {
  readonly signal: 'memory.available' | 'cpu.available';
  readonly below: ThresholdValue;
}

export const MEMORY_SHORTAGE: ShortageLimit = { signal: 'memory.available', below: { kind: 'share', share: 0.1 } };
export const CPU_SHORTAGE: ShortageLimit = { signal: 'cpu.available', below: { kind: 'share', share: 0.05 } };

export interface StallLimit {
  readonly windowMs: number;
  /** From 0 to 1. */
  readonly ratio: number;
}

/** The window, in milliseconds, that shows whether tasks stall right now. */
export const STILL_WINDOW_MS = 500;

/** Measured share of time in which some or all tasks stalled; absent while a window is not full. */
export interface StallRatio {
  readonly signal: StallSignal | 'io.pressure';
  readonly share: 'some' | 'full';
  readonly windowMs: number;
  readonly ratio: number;
}

/** Identifies a stall rule by all its conditions, so that two rules for one signal stay distinct. */
export function stallKey({ signal, share, short, long, evidence }: StallRule): string {
  const windows = [short, long].map(({ windowMs, ratio }) => `${ratio} of ${windowMs / 1000} s`).join(' and ');
  const { below } = evidence;
  const least = below.kind === 'share' ? below.share : formatQuantity(below.amount);
  return `${signal} ${share} ${windows} while ${evidence.signal} < ${least}`;
}
