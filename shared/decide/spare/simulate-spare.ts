import type { Instant } from '#shared/domain/pod/pod.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { reportedNumber } from '#shared/domain/quantity/parse-quantity.ts';
import type { SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import type { NodePressureStatus, SignalEntry } from '#shared/api/node-pressure.ts';
import { restoreSpareState } from './digest.ts';
import { percentAbove } from './histogram.ts';
import { expectedPeak, type Lendable, lendableOf, memoryRule } from './lendable.ts';
import { withUsage } from './usage-history.ts';

export interface SimulatedSpare extends Lendable {
  /** Of all half hours that are remembered, the percentage in which usage was higher than what is expected now. */
  readonly exceededPercent: number;
}

/**
 * How much memory could be lent with other settings, by what an agent reported; `undefined` if it does not report spare
 * room or memory. The last minutes are not in a report, so a node that is busy right now could lend less.
 */
export function simulateSpare(
  { spare, signals, observedAt }: NodePressureStatus,
  allocatable: number | undefined,
  settings: SpareSettings,
  now: Instant,
): SimulatedSpare | undefined {
  const memory = memoryOf(signals.find(({ name }) => name === 'memory.available'));
  if (spare?.since === undefined || observedAt === undefined || memory === undefined) return undefined;
  const { capacity, available, threshold } = memory;
  const { lent, taken: requested, used, requested: others } = spare.memory;
  const written = { digest: spare.digest, since: spare.since, at: observedAt, lent: { memory: lent, cpu: 0 } };
  const { history } = restoreSpareState(written, now).memory;
  const rule = memoryRule(settings);
  const seen = {
    capacity,
    allocatable: allocatable ?? capacity,
    ceiling: capacity - threshold,
    used,
    requested: others,
    spare: { requested, used: Math.max(0, capacity - available - used) },
    textOf: readableBytes,
    settling: 0,
  };
  const present = withUsage(history, used / capacity, now, rule);
  const exceededPercent = percentAbove(history.peaks, expectedPeak(present, used / capacity, rule));
  return { ...lendableOf(present, seen, rule, now), exceededPercent };
}

function memoryOf(signal: SignalEntry | undefined) {
  const available = signal?.figure === 'Reclaimable' ? signal.reclaimable : signal?.available;
  const [capacity, free, threshold] = [signal?.capacity, available, signal?.threshold].map(reportedNumber);
  if (capacity === undefined || free === undefined || threshold === undefined) return undefined;
  return { capacity, available: free, threshold };
}
