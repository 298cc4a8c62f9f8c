import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { thresholdMode } from '#shared/api/node-pressure-policy/rule-mode.ts';
import { amountOf, amountToRelieve } from '#shared/domain/pressure/is-below.ts';
import { byUrgency } from '#shared/domain/pressure/by-urgency.ts';
import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { compareQuantities, type Quantity, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { SimulatedSignal } from './signals.ts';

/** How much of a signal is left; `capacity` is `undefined` where no object says it. */
export interface Level {
  readonly signal: SimulatedSignal;
  readonly available: Quantity;
  readonly capacity: Quantity | undefined;
}

/** A threshold of a policy at that level. */
export interface ThresholdFact {
  readonly threshold: Threshold;
  readonly stage: 'mild' | 'severe';
  readonly mode: Mode;
  /** The least that must be left; `undefined` for a share of an unknown capacity. */
  readonly needed: Quantity | undefined;
  readonly isMet: boolean | undefined;
  /** What evictions must free, in the signal's unit. */
  readonly gap: number;
}

/** The thresholds of a policy for the signal, the most urgent first. */
export function thresholdFacts(policy: AgentPolicy, level: Level): readonly ThresholdFact[] {
  const own = policy.thresholds.filter(({ signal }) => signal === level.signal);
  return byUrgency(own).map((threshold) => thresholdFact(threshold, policy, level));
}

function thresholdFact(threshold: Threshold, policy: AgentPolicy, { available, capacity }: Level): ThresholdFact {
  const observed = { available, capacity: capacity ?? ZERO, at: undefined };
  const isKnown = threshold.value.kind === 'amount' || capacity !== undefined;
  const needed = isKnown ? amountOf(threshold.value, observed) : undefined;
  return {
    threshold,
    stage: isHard(threshold) ? 'severe' : 'mild',
    mode: thresholdMode(threshold, policy),
    needed,
    isMet: needed && compareQuantities(needed, available) > 0,
    gap: quantityNumber(amountToRelieve(threshold, observed)) - quantityNumber(available),
  };
}

/** The met threshold that the answer is about: the most urgent one that evicts pods, else the most urgent one. */
export function decidingThreshold(facts: readonly ThresholdFact[]): ThresholdFact | undefined {
  const met = facts.filter(({ isMet }) => isMet === true);
  return met.find(({ mode }) => mode === 'Enforce') ?? met[0];
}
