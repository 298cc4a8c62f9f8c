import type { MemoryReading, NodeReadings } from './observation.ts';
import type { Signal } from './signal.ts';

/**
 * Which figure decides whether memory is short: what processes can still have, or what the kubelet calls available, in
 * which active page cache counts as used and kernel memory as free.
 */
export type MemoryFigure = 'Reclaimable' | 'Kubelet';

/** Memory of the node, and below the limit of all pods. */
export type MemoryReadings = Pick<NodeReadings, 'memory' | 'allocatableMemory'>;

/** Signals that have both figures. */
export type MemorySignal = 'memory.available' | 'allocatableMemory.available';

export const NO_MEMORY_READINGS: MemoryReadings = { memory: undefined, allocatableMemory: undefined };

/** Whether a signal is an amount of memory. */
export function isMemorySignal(signal: Signal): signal is MemorySignal {
  return signal === 'memory.available' || signal === 'allocatableMemory.available';
}

/** The reading that a memory signal is made of. */
export function memoryReadingOf(readings: MemoryReadings, signal: MemorySignal): MemoryReading | undefined {
  return signal === 'memory.available' ? readings.memory : readings.allocatableMemory;
}

/** A total that is further off than this is that of another machine. */
const SAME_TOTAL_SHARE = 0.01;

/** Whether two readings are of the same memory, by its size; unknown where either lacks a figure. */
export function areOfOneMachine(one: MemoryReading | undefined, other: MemoryReading | undefined): boolean {
  const [left, right] = [totalOf(one), totalOf(other)];
  return Math.abs(left - right) <= right * SAME_TOTAL_SHARE;
}

function totalOf(reading: MemoryReading | undefined): number {
  return (reading?.availableBytes ?? Number.NaN) + (reading?.workingSetBytes ?? Number.NaN);
}

/** The figure that decides for a signal: where only the kubelet's is known, that one. */
export function figureInForce(reclaimable: MemoryReadings, figure: MemoryFigure, signal: MemorySignal): MemoryFigure {
  return memoryReadingOf(reclaimable, signal) === undefined ? 'Kubelet' : figure;
}

/** The readings that thresholds are held against; `readings` has the kubelet's figures. */
export function decidingReadings(
  readings: NodeReadings,
  reclaimable: MemoryReadings,
  figure: MemoryFigure,
): NodeReadings {
  if (figure === 'Kubelet') return readings;
  return {
    ...readings,
    memory: reclaimable.memory ?? readings.memory,
    allocatableMemory: reclaimable.allocatableMemory ?? readings.allocatableMemory,
  };
}
