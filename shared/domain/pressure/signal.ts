import { wholeFrom } from '#shared/domain/quantity/whole.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Quantity, QuantityFormat } from '#shared/domain/quantity/quantity.ts';

/** Node conditions of the kubelet, and the two of ours that have no kubelet counterpart. */
export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure' | 'CPUPressure' | 'IOPressure';

interface SignalMeaning {
  /** The resource that runs out, in the word that messages use for it (`pkg/kubelet/eviction/helpers.go`). */
  readonly resource: string;
  /** The node condition that a crossed threshold raises. */
  readonly condition: PressureCondition;
  /** Whether pods are evicted for it; otherwise it is only reported. */
  readonly evicts: boolean;
  /** For an amount that is left, and can have thresholds: how it follows from readings. */
  readonly observe?: (readings: NodeReadings) => Observation | undefined;
}

const MEMORY = { resource: 'memory', condition: 'MemoryPressure', evicts: true } as const;
/**
 * Disks are left to the kubelet: only it can remove dead containers and unused images before it evicts a pod
 * (docs/contributing/decisions/agent-sources.md).
 */
const DISK = { resource: 'ephemeral-storage', condition: 'DiskPressure', evicts: false } as const;
const INODES = { resource: 'inodes', condition: 'DiskPressure', evicts: false } as const;
const PROCESSES = { resource: 'pids', condition: 'PIDPressure', evicts: true } as const;
const CPU = { resource: 'cpu', condition: 'CPUPressure', evicts: true } as const;

/**
 * Every signal: the kubelet's nine, then those that only this project knows, which are idle CPU and time lost to
 * waiting (PSI). Lists and types elsewhere follow from this table (docs/contributing/how-to-add.md).
 */
const MEANINGS = {
  'memory.available': { ...MEMORY, observe: ({ memory }) => observeMemory(memory) },
  'allocatableMemory.available': { ...MEMORY, observe: ({ allocatableMemory }) => observeMemory(allocatableMemory) },
  'nodefs.available': { ...DISK, observe: ({ nodeFilesystem }) => observeBytes(nodeFilesystem) },
  'nodefs.inodesFree': { ...INODES, observe: ({ nodeFilesystem }) => observeInodes(nodeFilesystem) },
  'imagefs.available': { ...DISK, observe: ({ imageFilesystem }) => observeBytes(imageFilesystem) },
  'imagefs.inodesFree': { ...INODES, observe: ({ imageFilesystem }) => observeInodes(imageFilesystem) },
  'containerfs.available': { ...DISK, observe: ({ containerFilesystem }) => observeBytes(containerFilesystem) },
  'containerfs.inodesFree': { ...INODES, observe: ({ containerFilesystem }) => observeInodes(containerFilesystem) },
  'pid.available': { ...PROCESSES, observe: ({ processes }) => observeProcesses(processes) },
  'cpu.available': { ...CPU, evicts: false },
  'memory.pressure': MEMORY,
  'cpu.pressure': CPU,
  // No evidence distinguishes a busy disk from a shortage.
  'io.pressure': { resource: 'io', condition: 'IOPressure', evicts: false },
} as const satisfies Readonly<Record<string, SignalMeaning>>;

export type Signal = keyof typeof MEANINGS;
type SignalWith<Part> = { [Name in Signal]: (typeof MEANINGS)[Name] extends Part ? Name : never }[Signal];

/** A signal that can have thresholds: an amount that is left, so less is worse. */
export type ThresholdSignal = SignalWith<Required<Pick<SignalMeaning, 'observe'>>>;
/** A signal for which the agent evicts pods. */
export type EvictingSignal = SignalWith<{ readonly evicts: true }>;
/** A signal for which pods are ranked by what they use of a disk. */
export type DiskSignal = SignalWith<{ readonly resource: 'ephemeral-storage' | 'inodes' }>;
/** The resource that runs out. */
export type StarvedResource = (typeof MEANINGS)[Signal]['resource'];
/** The resource that tasks wait for, as pressure stall information (PSI) counts it. */
export type StalledResource = 'memory' | 'cpu' | 'io';
/** A signal of time lost to waiting. */
export type PsiSignal = `${StalledResource}.pressure`;

const SIGNALS = Object.keys(MEANINGS) as readonly Signal[];
const THRESHOLD_SIGNALS = SIGNALS.filter(isThresholdSignal);
/** The signals of time lost to waiting. */
export const PSI_SIGNALS: readonly PsiSignal[] = SIGNALS.filter(isPsiSignal);
/** The signals for which the agent evicts pods. */
export const EVICTING_SIGNALS: readonly EvictingSignal[] = SIGNALS.filter(isEvicting);
/** A signal whose thresholds the agent acts on. */
export type ActingSignal = EvictingSignal & ThresholdSignal;
export const ACTING_SIGNALS: readonly ActingSignal[] = EVICTING_SIGNALS.filter((signal) => isThresholdSignal(signal));

/** The resource that a signal watches. */
export function resourceOf(signal: Signal): StarvedResource {
  return MEANINGS[signal].resource;
}

/** The node condition that a crossed threshold of a signal raises. */
export function conditionOf(signal: Signal): PressureCondition {
  return MEANINGS[signal].condition;
}

/** Whether the agent evicts pods for a signal. */
export function isEvicting(signal: Signal): signal is EvictingSignal {
  return MEANINGS[signal].evicts;
}

/** Whether a text names a signal. */
export function isSignal(text: string): text is Signal {
  return Object.hasOwn(MEANINGS, text);
}

/** Whether a text names a signal that can have thresholds. */
export function isThresholdSignal(text: string): text is ThresholdSignal {
  return isSignal(text) && 'observe' in MEANINGS[text];
}

/** Whether a signal is time lost to waiting. */
export function isPsiSignal(signal: Signal): signal is PsiSignal {
  return signal.endsWith('.pressure');
}

/**
 * How the node's disks are divided: one filesystem for everything; a separate one for images and writable layers; or a
 * separate one for images only, with the writable layers on the node's filesystem.
 */
export type DiskLayout = 'single' | 'imagesAndLayersApart' | 'imagesApart';

/** One reading of one signal. */
export interface Observation {
  readonly available: Quantity;
  readonly capacity: Quantity;
  /** When it was measured; `undefined` if the source does not report it; then it counts as new every time. */
  readonly at: Instant | undefined;
}

/** The current observations; a signal that could not be read is absent, never zero. */
export type Observations = ReadonlyMap<ThresholdSignal, Observation>;

/** Bytes, and the moment they were read. */
export interface MemoryReading {
  readonly at: Instant | undefined;
  readonly availableBytes: number | undefined;
  readonly workingSetBytes: number | undefined;
  /** Set aside for huge pages, if known: before 1.37 a kubelet counts it as available, from then on it does not. */
  readonly hugePageBytes?: number | undefined;
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

/** The node's measurements; a source leaves out what it does not measure. */
export interface NodeReadings {
  readonly memory?: MemoryReading | undefined;
  /** Memory of the control group of all pods. */
  readonly allocatableMemory?: MemoryReading | undefined;
  readonly nodeFilesystem?: FilesystemReading | undefined;
  readonly imageFilesystem?: FilesystemReading | undefined;
  readonly containerFilesystem?: FilesystemReading | undefined;
  readonly processes?: ProcessReading | undefined;
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
  const observations = new Map<ThresholdSignal, Observation>();
  for (const signal of THRESHOLD_SIGNALS) {
    const observed = MEANINGS[signal].observe(readings);
    if (observed !== undefined) observations.set(signal, observed);
  }
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
