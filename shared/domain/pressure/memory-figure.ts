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

/** Memory that the kernel could give back from its page cache, in bytes. */
export interface PageCache {
  /** Cached pages of files, active and inactive; neither tmpfs nor locked pages are among them. */
  readonly fileBytes: number;
  /** Of these, what must be written to a disk first: dirty pages and those under writeback. */
  readonly unwrittenBytes: number;
}

/** The node's memory as /proc/meminfo has it. */
export interface NodeMemory extends PageCache {
  readonly totalBytes: number;
  /** MemAvailable: free pages, page cache and slab that can be given back, less what the kernel keeps for itself. */
  readonly availableBytes: number;
}

/** A limited group of processes as its own files have it. */
export interface LimitedMemory extends PageCache {
  readonly limitBytes: number;
  /** All that is charged to it, kernel memory and sockets included. */
  readonly usageBytes: number;
  readonly reclaimableSlabBytes: number;
}

/** A group that the kernel takes no more from than what it uses above `memory.min`. */
export interface GuardedMemory {
  readonly usageBytes: number;
  readonly fileBytes: number;
  readonly minBytes: number;
}

/**
 * Page cache that MemAvailable counts and the kernel would sooner kill than give back: that of groups below their
 * `memory.min`. `memory.low` is not held against it, because the kernel breaks it before it kills.
 */
export function guardedCache(groups: readonly GuardedMemory[]): number {
  return groups.reduce((sum, group) => sum + cacheKept(group), 0);
}

function cacheKept({ usageBytes, fileBytes, minBytes }: GuardedMemory): number {
  return Math.max(0, fileBytes - Math.max(0, usageBytes - minBytes));
}

/**
 * What processes can still have on the node, at once: MemAvailable less page cache that must be written first or is
 * guarded. Swap is not counted: what is swapped out becomes free, what could be swapped out is not free yet
 * (docs/guides/agent-thresholds.md has the measurements).
 */
export function reclaimableOnNode({ availableBytes, fileBytes, unwrittenBytes }: NodeMemory, guardedBytes = 0): number {
  return Math.max(0, availableBytes - Math.min(fileBytes, unwrittenBytes + guardedBytes));
}

/** The same below the limit of a group: what is left of it once all that can be given back is given back. */
export function reclaimableInGroup(group: LimitedMemory, guardedBytes = 0): number {
  const { limitBytes, usageBytes, fileBytes, unwrittenBytes, reclaimableSlabBytes } = group;
  const cacheBytes = Math.max(0, fileBytes - unwrittenBytes - guardedBytes);
  const heldBytes = Math.max(0, usageBytes - cacheBytes - reclaimableSlabBytes);
  return Math.max(0, limitBytes - heldBytes);
}
