import { wholeFrom } from '#shared/domain/quantity/whole.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Quantity, QuantityFormat } from '#shared/domain/quantity/quantity.ts';

/** The kubelet's nine signals; each is an amount that is left, so less is worse. */
export const KUBELET_SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

/** Signals that only this project knows: idle CPU, and time lost to waiting (PSI). */
export const OWN_SIGNALS = ['cpu.available', 'memory.pressure', 'cpu.pressure', 'io.pressure'] as const;

export type KubeletSignal = (typeof KUBELET_SIGNALS)[number];
export type OwnSignal = (typeof OWN_SIGNALS)[number];
export type Signal = KubeletSignal | OwnSignal;

/** The resource that runs out, in the word that messages use for it (`pkg/kubelet/eviction/helpers.go`). */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids' | 'cpu' | 'io';

/** Node conditions of the kubelet, and the two of ours that have no kubelet counterpart. */
export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' | 'CPUPressure' | 'IOPressure';

interface SignalMeaning {
  readonly resource: StarvedResource;
  readonly condition: PressureCondition;
}

const MEMORY: SignalMeaning = { resource: 'memory', condition: 'MemoryPressure' };
const DISK: SignalMeaning = { resource: 'ephemeral-storage', condition: 'DiskPressure' };
const INODES: SignalMeaning = { resource: 'inodes', condition: 'DiskPressure' };
const CPU: SignalMeaning = { resource: 'cpu', condition: 'CPUPressure' };

const MEANINGS: Readonly<Record<Signal, SignalMeaning>> = {
  'memory.available': MEMORY,
  'allocatableMemory.available': MEMORY,
  'nodefs.available': DISK,
  'nodefs.inodesFree': INODES,
  'imagefs.available': DISK,
  'imagefs.inodesFree': INODES,
  'containerfs.available': DISK,
  'containerfs.inodesFree': INODES,
  'pid.available': { resource: 'pids', condition: 'PIDPressure' },
  'cpu.available': CPU,
  'memory.pressure': MEMORY,
  'cpu.pressure': CPU,
  'io.pressure': { resource: 'io', condition: 'IOPressure' },
};

/** The resource that a signal watches. */
export function resourceOf(signal: Signal): StarvedResource {
  return MEANINGS[signal].resource;
}

/** The node condition that a crossed threshold of a signal raises. */
export function conditionOf(signal: Signal): PressureCondition {
  return MEANINGS[signal].condition;
}

/** Whether a text names a signal that the kubelet knows. */
export function isKubeletSignal(text: string): text is KubeletSignal {
  return (KUBELET_SIGNALS as readonly string[]).includes(text);
}

/**
 * How the node's disks are divided: one filesystem for everything; a separate one for images and writable layers; or a
 * separate one for images only, with the writable layers on the node's filesystem.
 */
export type DiskLayout = 'single' | 'imagesAndLayersApart' | 'imagesApart';

/** The resource that tasks wait for, as pressure stall information (PSI) counts it. */
export type StalledResource = 'memory' | 'cpu' | 'io';

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
