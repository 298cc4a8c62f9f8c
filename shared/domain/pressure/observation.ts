import { wholeFrom } from '#shared/domain/quantity/whole.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Quantity, QuantityFormat } from '#shared/domain/quantity/quantity.ts';
import type { KubeletSignal } from './signal.ts';

/** One reading of one signal. */
export interface Observation {
  readonly available: Quantity;
  readonly capacity: Quantity;
  /** When it was measured; `undefined` if the source does not report it; then it counts as new every time. */
  readonly at: Instant | undefined;
}

/** The current observations; a signal that could not be read is absent, never zero. */
export type Observations = ReadonlyMap<KubeletSignal, Observation>;

/** Bytes, and the moment they were read. */
export interface MemoryReading {
  readonly at: Instant | undefined;
  readonly availableBytes: number | undefined;
  readonly workingSetBytes: number | undefined;
}

export interface FilesystemReading {
  readonly at: Instant | undefined;
  readonly availableBytes: number | undefined;
  readonly capacityBytes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodes: number | undefined;
}

export interface ProcessReading {
  readonly at: Instant | undefined;
  readonly maximum: number | undefined;
  readonly running: number | undefined;
}

/** The node's measurements from any source: each part may be missing. */
export interface NodeReadings {
  readonly memory: MemoryReading | undefined;
  /** Memory of the control group of all pods. */
  readonly allocatableMemory: MemoryReading | undefined;
  readonly nodeFilesystem: FilesystemReading | undefined;
  readonly imageFilesystem: FilesystemReading | undefined;
  readonly containerFilesystem: FilesystemReading | undefined;
  readonly processes: ProcessReading | undefined;
}

/** A measured number as a quantity, also beyond 2^53; fractions are rounded down, and NaN counts as 0. */
export function wholeQuantity(value: number, format: QuantityFormat): Quantity {
  return { mantissa: wholeMantissa(value), exponent: 0, format, spelling: undefined };
}

function wholeMantissa(value: number): number | bigint {
  if (Number.isSafeInteger(value)) return value + 0;
  return Number.isFinite(value) ? wholeFrom(BigInt(Math.floor(value))) : 0;
}

/**
 * Turns readings into observations; a pair with a missing or invalid half yields none (`makeSignalObservations` in
 * `pkg/kubelet/eviction/helpers.go`).
 */
export function observe(readings: NodeReadings): Observations {
  const observations = new Map<KubeletSignal, Observation>();
  const note = (signal: KubeletSignal, observation: Observation | undefined) => {
    if (observation !== undefined) observations.set(signal, observation);
  };
  note('memory.available', observeMemory(readings.memory));
  note('allocatableMemory.available', observeMemory(readings.allocatableMemory));
  note('nodefs.available', observeBytes(readings.nodeFilesystem));
  note('nodefs.inodesFree', observeInodes(readings.nodeFilesystem));
  note('imagefs.available', observeBytes(readings.imageFilesystem));
  note('imagefs.inodesFree', observeInodes(readings.imageFilesystem));
  note('containerfs.available', observeBytes(readings.containerFilesystem));
  note('containerfs.inodesFree', observeInodes(readings.containerFilesystem));
  note('pid.available', observeProcesses(readings.processes));
  return observations;
}

function observeMemory(memory: MemoryReading | undefined): Observation | undefined {
  if (memory?.availableBytes === undefined || memory.workingSetBytes === undefined) return undefined;
  return observation('binary', memory.availableBytes, memory.availableBytes + memory.workingSetBytes, memory.at);
}

function observeBytes(filesystem: FilesystemReading | undefined): Observation | undefined {
  if (filesystem?.availableBytes === undefined || filesystem.capacityBytes === undefined) return undefined;
  return observation('binary', filesystem.availableBytes, filesystem.capacityBytes, filesystem.at);
}

function observeInodes(filesystem: FilesystemReading | undefined): Observation | undefined {
  if (filesystem?.inodesFree === undefined || filesystem.inodes === undefined) return undefined;
  return observation('decimal', filesystem.inodesFree, filesystem.inodes, filesystem.at);
}

function observeProcesses(processes: ProcessReading | undefined): Observation | undefined {
  if (processes?.maximum === undefined || processes.running === undefined) return undefined;
  return observation('decimal', processes.maximum - processes.running, processes.maximum, processes.at);
}

function observation(
  unit: 'binary' | 'decimal',
  available: number,
  capacity: number,
  at: Instant | undefined,
): Observation | undefined {
  if (!Number.isFinite(available) || !Number.isFinite(capacity)) return undefined;
  const format = unit === 'binary' ? 'BinarySI' : 'DecimalSI';
  return { available: wholeQuantity(available, format), capacity: wholeQuantity(capacity, format), at };
}
