import { quantityNumber } from '#shared/domain/model/quantity.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import type { Mode } from '#agent/mode.ts';

/** Which resource's PSI; `io.pressure` is reported and never evicts: there is no evidence that tells a busy disk from a short one. */
export type StallSignal = 'memory.pressure' | 'cpu.pressure';

/** Share of time in which some, or all, of the tasks waited; over a short window, and over a long one. */
export interface StallRule {
  readonly signal: StallSignal;
  readonly share: 'some' | 'full';
  /** The short window says that it still lasts, the long one that it is real. */
  readonly short: StallLimit;
  readonly long: StallLimit;
  /**
   * Waiting alone proves no shortage: one pod that thrashes inside its own limit raises the node's memory PSI while
   * gigabytes are free (real-kubernetes.md 8.3). So less than this share of the capacity must be left as well.
   */
  readonly evidence: StallEvidenceLimit;
  /** How long all of it must last; the windows come on top. */
  readonly gracePeriodMs: number;
  readonly mode: Mode;
}

/** What must be short as well, and below which share of its capacity. */
export interface StallEvidenceLimit {
  readonly signal: 'memory.available' | 'cpu.available';
  readonly belowShare: number;
}

export const MEMORY_EVIDENCE: StallEvidenceLimit = { signal: 'memory.available', belowShare: 0.1 };
export const CPU_EVIDENCE: StallEvidenceLimit = { signal: 'cpu.available', belowShare: 0.05 };

export interface StallLimit {
  readonly windowMs: number;
  /** From 0 to 1. */
  readonly ratio: number;
}

/** Measured shares of waiting by resource, line and window; absent where a window is not full yet. */
export interface StallRatio {
  readonly signal: StallSignal | 'io.pressure';
  readonly share: 'some' | 'full';
  readonly windowMs: number;
  readonly ratio: number;
}

/** What a stall rule is judged on. `cpuAvailableShare` is idle CPU over capacity, over the long window. */
export interface StallEvidence {
  readonly ratios: readonly StallRatio[];
  readonly observations: Observations;
  readonly cpuAvailableShare: number | undefined;
}

/** Since when each rule has been met, by signal; a rule that is not met is not in it. */
export type StallsSince = ReadonlyMap<StallSignal, Instant>;

function ratioOf(rule: StallRule, windowMs: number, ratios: readonly StallRatio[]): number | undefined {
  return ratios.find((each) => each.signal === rule.signal && each.share === rule.share && each.windowMs === windowMs)
    ?.ratio;
}

function isAbove(rule: StallRule, limit: StallLimit, ratios: readonly StallRatio[]): boolean {
  const measured = ratioOf(rule, limit.windowMs, ratios);
  return measured !== undefined && measured >= limit.ratio;
}

function availableShare(
  { evidence }: StallRule,
  { observations, cpuAvailableShare }: StallEvidence,
): number | undefined {
  if (evidence.signal === 'cpu.available') return cpuAvailableShare;
  const memory = observations.get('memory.available');
  return memory === undefined ? undefined : quantityNumber(memory.available) / quantityNumber(memory.capacity);
}

/** Whether waiting in both windows and a shortage coincide; what was not measured is not met (law 3). */
export function isStallRuleMet(rule: StallRule, evidence: StallEvidence): boolean {
  if (!isAbove(rule, rule.short, evidence.ratios) || !isAbove(rule, rule.long, evidence.ratios)) return false;
  const left = availableShare(rule, evidence);
  return left !== undefined && left < rule.evidence.belowShare;
}

/** The rules that are met now, each with the time since when. */
export function advanceStalls(
  previous: StallsSince,
  rules: readonly StallRule[],
  evidence: StallEvidence,
  now: Instant,
): StallsSince {
  const met = rules.filter((rule) => isStallRuleMet(rule, evidence));
  return new Map(met.map(({ signal }) => [signal, previous.get(signal) ?? now]));
}
