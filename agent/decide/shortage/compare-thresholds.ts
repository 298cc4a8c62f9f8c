import { DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { amountOf, amountToRelieve, isBelow, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { compareQuantities } from '#shared/domain/quantity/quantity.ts';

/**
 * Whether a node without a history is short beyond doubt: by a default threshold of the signal, or with less than a tenth
 * of its process IDs left. No pod is evicted for other signals (docs/decisions/0012).
 */
export function isShortByDefault({ signal }: Threshold, observations: Observations): boolean {
  const usual = USUAL_THRESHOLDS.filter((each) => each.signal === signal);
  return usual.length === 0 || usual.some((each) => isBelow(each, observations));
}

/** Neither this project nor the kubelet has a default for process IDs; managed clusters use 10 %. */
const PROCESS_IDS = parseThresholds({ evictionHard: { 'pid.available': '10%' } });
const USUAL_THRESHOLDS = [...DEFAULT_POLICY.thresholds, ...(PROCESS_IDS.ok ? PROCESS_IDS.thresholds : [])];

/** Whether of two thresholds of one kind the first evicts wherever the second does. */
export function asksForAsMuch(first: Threshold, second: Threshold, observations: Observations): boolean {
  const observed = observations.get(second.signal);
  if (observed === undefined || !isSuccessor(second, first)) return false;
  const isAsMuch = compareQuantities(amountToRelieve(first, observed), amountToRelieve(second, observed)) >= 0;
  const isAsHigh = compareQuantities(amountOf(first.value, observed), amountOf(second.value, observed)) >= 0;
  return isAsMuch && isAsHigh && first.gracePeriodSeconds <= second.gracePeriodSeconds;
}

/** Whether a threshold can replace another: both are of one signal and both hard or both soft. */
export function isSuccessor(threshold: Threshold, before: Threshold): boolean {
  return threshold.signal === before.signal && isHard(threshold) === isHard(before);
}
