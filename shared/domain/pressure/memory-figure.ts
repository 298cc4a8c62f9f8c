import type { MemoryReading, NodeReadings, Signal } from './signal.ts';

/**
 * Which figure decides whether memory is short: the memory that processes can still get, or the kubelet's available
 * memory, which counts active page cache as used and kernel memory as free.
 */
export type MemoryFigure = 'Reclaimable' | 'Kubelet';

/** Memory of the node, and memory below the limit of all pods. */
export type MemoryReadings = Pick<NodeReadings, 'memory' | 'allocatableMemory'>;

/** The signals that have both figures. */
export const MEMORY_SIGNALS = ['memory.available', 'allocatableMemory.available'] as const;
export type MemorySignal = (typeof MEMORY_SIGNALS)[number];

export const NO_MEMORY_READINGS: MemoryReadings = {};

/** Whether a signal is an amount of memory. */
export function isMemorySignal(signal: Signal): signal is MemorySignal {
  return MEMORY_SIGNALS.some((each) => each === signal);
}

/** The reading from which a memory signal is computed. */
export function memoryReadingOf(readings: MemoryReadings, signal: MemorySignal): MemoryReading | undefined {
  return signal === 'memory.available' ? readings.memory : readings.allocatableMemory;
}

/** A total that differs by more than this belongs to another machine. */
const SAME_TOTAL_SHARE = 0.01;

/** Whether two readings describe the same memory, by its size; unknown if either lacks a figure. */
export function areOfOneMachine(one: MemoryReading | undefined, other: MemoryReading | undefined): boolean {
  return isSameTotal(totalOf(one), totalOf(other), one?.hugePageBytes ?? other?.hugePageBytes);
}

/** Whether two totals are those of one machine, of which either may leave out its huge pages. */
export function isSameTotal(one: number, other: number, hugePageBytes = 0): boolean {
  const differences = [0, hugePageBytes, -hugePageBytes].map((bytes) => Math.abs(one - other + bytes));
  return Math.min(...differences) <= other * SAME_TOTAL_SHARE;
}

function totalOf(reading: MemoryReading | undefined): number {
  return (reading?.availableBytes ?? Number.NaN) + (reading?.workingSetBytes ?? Number.NaN);
}

/** The figure that decides for a signal; the kubelet's if no other is known. */
export function figureInForce(reclaimable: MemoryReadings, figure: MemoryFigure, signal: MemorySignal): MemoryFigure {
  return memoryReadingOf(reclaimable, signal) === undefined ? 'Kubelet' : figure;
}

/** The readings to compare with thresholds; `readings` has the kubelet's figures. */
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

/** Memory that the kernel could reclaim from its page cache, in bytes. */
export interface PageCache {
  /** Cached pages of files, active and inactive; without tmpfs and locked pages. */
  readonly fileBytes: number;
  /** The part that must be written to disk first: dirty pages and those under writeback. */
  readonly unwrittenBytes: number;
}

/** The node's memory as reported in /proc/meminfo. */
export interface NodeMemory extends PageCache {
  readonly totalBytes: number;
  /** MemAvailable: free pages, reclaimable page cache and slab, less what the kernel reserves for itself. */
  readonly availableBytes: number;
  /** Huge pages of all sizes, used or not; no part of what is available. */
  readonly hugePageBytes?: number;
}

/** A limited group of processes as reported in its own files. */
export interface LimitedMemory extends PageCache {
  readonly limitBytes: number;
  /** All memory charged to it, including kernel memory and sockets. */
  readonly usageBytes: number;
  readonly reclaimableSlabBytes: number;
}

/** A group from which the kernel reclaims only what it uses above `memory.min`. */
export interface GuardedMemory {
  readonly usageBytes: number;
  readonly fileBytes: number;
  readonly minBytes: number;
}

/**
 * Page cache that MemAvailable counts although the kernel would rather kill a process than reclaim it: the cache of
 * groups below their `memory.min`. `memory.low` does not count, because the kernel breaks it before it kills.
 */
export function guardedCache(groups: readonly GuardedMemory[]): number {
  return groups.reduce((sum, group) => sum + cacheKept(group), 0);
}

function cacheKept({ usageBytes, fileBytes, minBytes }: GuardedMemory): number {
  return Math.max(0, fileBytes - Math.max(0, usageBytes - minBytes));
}

/**
 * The memory that processes can get on the node at once: MemAvailable less page cache that must be written first or is
 * guarded. Swap is not counted: what is swapped out becomes free, what could be swapped out is not free yet
 * (docs/guides/agent-thresholds.md has the measurements).
 */
export function reclaimableOnNode({ availableBytes, fileBytes, unwrittenBytes }: NodeMemory, guardedBytes = 0): number {
  return Math.max(0, availableBytes - Math.min(fileBytes, unwrittenBytes + guardedBytes));
}

/** The same below the limit of a group: what is left of the limit after reclaiming all that can be reclaimed. */
export function reclaimableInGroup(group: LimitedMemory, guardedBytes = 0): number {
  const { limitBytes, usageBytes, fileBytes, unwrittenBytes, reclaimableSlabBytes } = group;
  const cacheBytes = Math.max(0, fileBytes - unwrittenBytes - guardedBytes);
  const heldBytes = Math.max(0, usageBytes - cacheBytes - reclaimableSlabBytes);
  return Math.max(0, limitBytes - heldBytes);
}
