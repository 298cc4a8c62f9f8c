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
