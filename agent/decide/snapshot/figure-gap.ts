import type { Because } from '#shared/domain/model/because.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type MemoryReadings, memoryReadingOf, type MemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import { type MemoryReading, wholeQuantity } from '#shared/domain/pressure/observation.ts';
import type { NodeView } from './node-view.ts';
import { REASONS } from '#agent/messages.ts';

/** Memory signals whose two figures differ widely, each with the reason in words and numbers. */
export type FigureGaps = ReadonlyMap<MemorySignal, Because>;

export const NO_GAPS: FigureGaps = new Map();

/**
 * A gap above the first share of the capacity is reported until it falls below the second, so that it is reported once.
 */
const APART_SHARE = 0.1;
const TOGETHER_SHARE = 0.05;
const SIGNALS: readonly MemorySignal[] = ['memory.available', 'allocatableMemory.available'];

/** The gaps after one more pass. */
export function advanceFigureGaps(previous: FigureGaps, { readings, reclaimable }: NodeView): FigureGaps {
  const gaps = SIGNALS.flatMap((signal) => {
    const because = gapOf(signal, readings, reclaimable, previous.has(signal) ? TOGETHER_SHARE : APART_SHARE);
    return because === undefined ? [] : [[signal, because] as const];
  });
  return gaps.length === 0 ? NO_GAPS : new Map(gaps);
}

/** Whether both figures of the node's available memory are known; otherwise nothing was compared. */
export function areFiguresKnown({ readings, reclaimable }: Pick<NodeView, 'readings' | 'reclaimable'>): boolean {
  return [readings, reclaimable].every((each) => bytesOf(memoryReadingOf(each, 'memory.available')) !== undefined);
}

function gapOf(
  signal: MemorySignal,
  readings: MemoryReadings,
  reclaimable: MemoryReadings,
  share: number,
): Because | undefined {
  const [kubelets, own] = [readings, reclaimable].map((each) => bytesOf(memoryReadingOf(each, signal)));
  if (kubelets === undefined || own === undefined) return undefined;
  if (Math.abs(kubelets.available - own.available) <= own.capacity * share) return undefined;
  return describeGap(signal, kubelets.available, own.available);
}

function bytesOf(reading: MemoryReading | undefined): { available: number; capacity: number } | undefined {
  const { availableBytes, workingSetBytes } = reading ?? {};
  if (availableBytes === undefined || workingSetBytes === undefined) return undefined;
  return { available: availableBytes, capacity: availableBytes + workingSetBytes };
}

/** The kubelet reports less where page cache is active, and more where the kernel itself holds memory. */
function describeGap(signal: MemorySignal, kubelets: number, own: number): Because {
  const kubeletAvailable = formatQuantity(wholeQuantity(kubelets, 'BinarySI'));
  const reclaimable = formatQuantity(wholeQuantity(own, 'BinarySI'));
  const facts = { signal, kubeletAvailable, reclaimable };
  return kubelets < own ? REASONS.cacheCountedAsUsed(facts, facts) : REASONS.heldMemoryMissed(facts, facts);
}
