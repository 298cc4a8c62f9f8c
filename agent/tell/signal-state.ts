import type { Instant } from '#shared/domain/model/pod.ts';
import { canonicalQuantity, formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { quantityFromMilli, quantityMilliNumber, quantityNumber } from '#shared/domain/model/quantity.ts';
import type { PressureState } from '#shared/domain/pressure/advance-pressure.ts';
import { amountOf } from '#shared/domain/pressure/is-below.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import type { KubeletSignal } from '#shared/domain/pressure/signal.ts';
import { isHard, type Threshold, type ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import type { CpuRoom } from '#agent/decide/node-view.ts';
import type { Picture } from '#agent/picture.ts';
import type { StallRule } from '#agent/policy/stall-rule.ts';

/** How near a signal is to costing a pod. */
export type SignalLevel = 'Far' | 'Near' | 'Soft' | 'Hard';

/** One line of `status.signals`; times are as in the observation. */
export interface SignalState {
  readonly name: KubeletSignal | 'cpu.available';
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

/** Every signal that is observed: the kubelet's in the order of the observations, then the idle CPU. */
export function signalStates({ decision, policy, look }: Picture): readonly SignalState[] {
  const own = look.cpu && cpuState(look.cpu, look.now, policy.stallRules);
  const kubelets = kubeletStates(decision.state.pressure, policy.thresholds);
  return own === undefined ? kubelets : [...kubelets, own];
}

function kubeletStates(pressure: PressureState, thresholds: readonly Threshold[]): readonly SignalState[] {
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

/** Idle CPU against what a rule on CPU asks to be left; in cores. */
function cpuState({ availableCores, cores }: CpuRoom, now: Instant, rules: readonly StallRule[]): SignalState {
  const below = rules.find(({ signal }) => signal === 'cpu.pressure')?.evidence.below;
  const least = below && coresOf(below, cores);
  return {
    name: 'cpu.available',
    available: coresText(availableCores),
    capacity: coresText(cores),
    availableNumber: availableCores,
    capacityNumber: cores,
    threshold: least === undefined ? undefined : coresText(least),
    thresholdNumber: least,
    state: cpuLevel(availableCores - (least ?? -Infinity), cores),
    observedAt: now,
  };
}

function coresOf(below: ThresholdValue, cores: number): number {
  return below.kind === 'share' ? cores * below.share : quantityMilliNumber(below.amount) / 1000;
}

function coresText(cores: number): string {
  return canonicalQuantity(quantityFromMilli(Math.round(cores * 1000), 'DecimalSI'));
}

/** Never hard: CPU is compressible. */
function cpuLevel(headroom: number, cores: number): SignalLevel {
  if (headroom < 0) return 'Soft';
  return headroom < cores * NEAR_SHARE ? 'Near' : 'Far';
}
