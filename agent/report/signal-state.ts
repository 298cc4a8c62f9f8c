import type { SignalEntry } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { canonicalQuantity, readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { quantityFromMilli, quantityMilliNumber, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import {
  type PressureState,
  amountOf,
  isHard,
  type Threshold,
  type ThresholdValue,
} from '#shared/domain/pressure/threshold.ts';
import { isMemorySignal, type MemoryFigure, memoryReadingOf } from '#shared/domain/pressure/memory-figure.ts';
import { type Observation, observe, type ThresholdSignal } from '#shared/domain/pressure/signal.ts';
import { signalAmountText } from '#shared/domain/ranking/explain-ranking.ts';
import type { CpuRoom } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import type { StallRule } from '#shared/api/node-pressure-policy/policy.ts';

/** How close a signal is to its thresholds. */
export type SignalLevel = SignalEntry['state'];

/** One line of `status.signals`; times are as in the observation. */
export interface SignalReport {
  readonly name: ThresholdSignal | 'cpu.available';
  /** For memory, as the kubelet computes it. */
  readonly available: string;
  readonly capacity: string;
  readonly availableNumber: number;
  readonly capacityNumber: number;
  /** The threshold that would be crossed first, if the signal has one. */
  readonly threshold: string | undefined;
  readonly thresholdNumber: number | undefined;
  readonly state: SignalLevel;
  readonly observedAt: Instant | undefined;
  /** For memory signals, if the kernel reports it. */
  readonly reclaimable?: Reclaimable;
}

/** Reclaimable memory of a signal, and the figure that its thresholds are compared with. */
export interface Reclaimable {
  readonly available: string;
  readonly availableNumber: number;
  readonly figure: MemoryFigure;
}

/** A signal is near within this share of the capacity above its threshold. */
const NEAR_SHARE = 0.1;

function amount(threshold: Threshold, observed: Observation): number {
  return quantityNumber(amountOf(threshold.value, observed));
}

function levelOf(
  signal: ThresholdSignal,
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
export function signalStates(result: PassResult): readonly SignalReport[] {
  const { decision, policy, snapshot } = result;
  const own = snapshot.cpu && cpuState(snapshot.cpu, snapshot.now, policy.stallRules);
  const kubelets = observe(snapshot.readings);
  const states = Array.from(decision.state.pressure.observations, ([name, deciding]) =>
    kubeletState(name, { shown: kubelets.get(name) ?? deciding, deciding }, result),
  );
  return own === undefined ? states : [...states, own];
}

/** A signal as the kubelet computes it, and as its thresholds use it. */
interface ShownAndDeciding {
  readonly shown: Observation;
  readonly deciding: Observation;
}

function kubeletState(name: ThresholdSignal, { shown, deciding }: ShownAndDeciding, result: PassResult): SignalReport {
  const { policy, decision } = result;
  const first = firstToCross(
    policy.thresholds.filter(({ signal }) => signal === name),
    deciding,
  );
  const thresholdNumber = first && amount(first, deciding);
  const reclaimable = reclaimableOf(name, result);
  return {
    name,
    available: signalAmountText(name, shown.available),
    capacity: signalAmountText(name, shown.capacity),
    availableNumber: quantityNumber(shown.available),
    capacityNumber: quantityNumber(shown.capacity),
    threshold: first && signalAmountText(name, amountOf(first.value, deciding)),
    thresholdNumber,
    state: levelOf(name, deciding, thresholdNumber, decision.state.pressure),
    observedAt: shown.at,
    ...(reclaimable === undefined ? {} : { reclaimable }),
  };
}

function reclaimableOf(name: ThresholdSignal, { snapshot, policy }: PassResult): Reclaimable | undefined {
  const bytes = isMemorySignal(name) ? memoryReadingOf(snapshot.reclaimable, name)?.availableBytes : undefined;
  if (bytes === undefined) return undefined;
  return { available: readableBytes(bytes), availableNumber: bytes, figure: policy.memoryFigure };
}

/** Idle CPU compared with the limit of the CPU rule, in cores. */
function cpuState({ availableCores, cores }: CpuRoom, now: Instant, rules: readonly StallRule[]): SignalReport {
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
