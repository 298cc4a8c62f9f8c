import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { Mode } from './mode.ts';

/** Which resource's PSI; `io.pressure` is reported and never evicts: there is no evidence that tells a busy disk from a short one. */
export type StallSignal = 'memory.pressure' | 'cpu.pressure';

/** When waiting is long enough to cost a pod, as far as the waiting itself goes. */
export interface StallRule {
  readonly signal: StallSignal;
  readonly share: 'some' | 'full';
  /** The short window says that it still lasts, the long one that it is real. */
  readonly short: StallLimit;
  readonly long: StallLimit;
  /** What must be short as well: waiting alone proves no shortage. */
  readonly evidence: ShortageLimit;
  /** How long all of it must last; the windows come on top. */
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

/** Over about so long is measured whether tasks wait at this moment. */
export const STILL_WINDOW_MS = 500;

/** A measured share of time in which some, or all, of the tasks waited; absent where a window is not full yet. */
export interface StallRatio {
  readonly signal: StallSignal | 'io.pressure';
  readonly share: 'some' | 'full';
  readonly windowMs: number;
  readonly ratio: number;
}

/** What a stall rule is known by: everything that makes it met. Two rules for one signal are two rules. */
export function stallKey({ signal, share, short, long, evidence }: StallRule): string {
  const windows = [short, long].map(({ windowMs, ratio }) => `${ratio} of ${windowMs / 1000} s`).join(' and ');
  const { below } = evidence;
  const least = below.kind === 'share' ? below.share : formatQuantity(below.amount);
  return `${signal} ${share} ${windows} while ${evidence.signal} < ${least}`;
}
