import type { Instant } from '#shared/domain/model/pod.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import type { PressureState } from '#shared/domain/pressure/advance-pressure.ts';
import { amountOf } from '#shared/domain/pressure/is-below.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import type { KubeletSignal } from '#shared/domain/pressure/signal.ts';
import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';

/** How near a signal is to costing a pod. */
export type SignalLevel = 'Far' | 'Near' | 'Soft' | 'Hard';

/** One line of `status.signals`; times are as in the observation. */
export interface SignalState {
  readonly name: KubeletSignal;
  readonly available: string;
  readonly capacity: string;
  readonly availableNumber: number;
  readonly capacityNumber: number;
  /** Of the threshold that would be crossed first, where the signal has one. */
  readonly threshold: string | undefined;
  readonly thresholdNumber: number | undefined;
  readonly state: SignalLevel;
  readonly observedAt: Instant | undefined;
}

/** Within this share of the capacity above its threshold a signal is near. */
const NEAR_SHARE = 0.1;

function amount(threshold: Threshold, observed: Observation): number {
  return quantityNumber(amountOf(threshold.value, observed));
}

function levelOf(
  signal: KubeletSignal,
  observed: Observation,
  first: number | undefined,
  pressure: PressureState,
): SignalLevel {
  const crossed = pressure.observed.filter((threshold) => threshold.signal === signal);
  if (crossed.some(isHard)) return 'Hard';
  if (crossed.length > 0) return 'Soft';
  if (first === undefined) return 'Far';
  const headroom = quantityNumber(observed.available) - first;
  return headroom < quantityNumber(observed.capacity) * NEAR_SHARE ? 'Near' : 'Far';
}

/** The threshold with the largest value is crossed first. */
function firstToCross(thresholds: readonly Threshold[], observed: Observation): Threshold | undefined {
  return thresholds.toSorted((left, right) => amount(right, observed) - amount(left, observed))[0];
}

/** Every signal that is observed, in the order of the observations. */
export function signalStates(pressure: PressureState, thresholds: readonly Threshold[]): readonly SignalState[] {
  return Array.from(pressure.observations, ([name, observed]) => {
    const first = firstToCross(
      thresholds.filter(({ signal }) => signal === name),
      observed,
    );
    const thresholdNumber = first && amount(first, observed);
    return {
      name,
      available: formatQuantity(observed.available),
      capacity: formatQuantity(observed.capacity),
      availableNumber: quantityNumber(observed.available),
      capacityNumber: quantityNumber(observed.capacity),
      threshold: first && formatQuantity(amountOf(first.value, observed)),
      thresholdNumber,
      state: levelOf(name, observed, thresholdNumber, pressure),
      observedAt: observed.at,
    };
  });
}
