import type { Instant } from '#shared/domain/pod/pod.ts';
import { advancePressure, NO_PRESSURE, type PressureState } from '#shared/domain/pressure/advance-pressure.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import { type Observation, type Observations, wholeQuantity } from '#shared/domain/pressure/observation.ts';
import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { advanceConfirmations, type Confirmations, needsConfirmation, type Seen } from './confirm-shortage.ts';
import { advanceRecent, type RecentFigures, usualAvailable } from './recent-figures.ts';

/** State of the thresholds from one pass to the next. */
export interface ThresholdState {
  readonly pressure: PressureState;
  readonly recent: RecentFigures;
  readonly confirmations: Confirmations;
}

export const NO_THRESHOLDS: ThresholdState = { pressure: NO_PRESSURE, recent: new Map(), confirmations: new Map() };

/**
 * A grace period restarts after this much relief, not after one measurement above the threshold: with ten measurements
 * a second one of them is nearly always above it, and the agent would never act where the kubelet does.
 */
const RELIEF_MS = 1000;

/**
 * The thresholds after one more pass. The rules are the kubelet's, adapted to ten passes a second: hard memory
 * thresholds are confirmed first, soft ones are compared with what was available for most of the last second.
 */
export function advanceThresholds(
  previous: ThresholdState,
  observations: Observations,
  policy: Pick<AgentPolicy, 'thresholds' | 'transitionPeriodMs'>,
  now: Instant,
): ThresholdState {
  const recent = advanceRecent(previous.recent, observations, now);
  const seen = { observations, recent, now };
  const confirmations = advanceConfirmations(previous.confirmations, policy.thresholds, seen);
  const rules = {
    ...policy,
    reliefMs: RELIEF_MS,
    isCrossed: (threshold: Threshold): boolean => isCrossed(threshold, { ...seen, confirmations }),
  };
  return { pressure: advancePressure(previous.pressure, observations, rules, now), recent, confirmations };
}

function isCrossed(
  threshold: Threshold,
  { observations, recent, confirmations }: Seen & Pick<ThresholdState, 'confirmations'>,
): boolean {
  const observed = observationFor(threshold, observations, recent);
  if (observed === undefined || !isBelow(threshold, new Map([[threshold.signal, observed]]))) return false;
  return !needsConfirmation(threshold) || confirmations.get(threshold.id)?.isConfirmed === true;
}

/**
 * The observation a threshold is compared with: for a hard one the last measurement, for a soft one the median of the
 * last second.
 */
export function observationFor(
  threshold: Threshold,
  observations: Observations,
  recent: RecentFigures,
): Observation | undefined {
  const observed = observations.get(threshold.signal);
  const usual = isHard(threshold) ? undefined : usualAvailable(recent.get(threshold.signal));
  if (observed === undefined || usual === undefined) return observed;
  return { ...observed, available: wholeQuantity(usual, observed.available.format) };
}
