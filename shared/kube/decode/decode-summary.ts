import type { Instant } from '#shared/domain/pod/pod.ts';
import type { FilesystemReading, MemoryReading, NodeReadings, ProcessReading } from '#shared/domain/pressure/signal.ts';
import type {
  ContainerUsage,
  FilesystemUsage,
  MemoryUsage,
  PodUsage,
  VolumeUsage,
} from '#shared/domain/ranking/pod-usage.ts';
import {
  type Decoded,
  decodeObject,
  readCount,
  readInstant,
  readList,
  readObject,
  readPart,
  readText,
  type WireObject,
} from './wire-object.ts';

/** One response of the kubelet's `/stats/summary`, limited to the fields that decisions use. */
export interface Summary {
  readonly readings: NodeReadings;
  readonly pods: readonly PodUsage[];
}

const NO_FILESYSTEM: FilesystemUsage = { usedBytes: undefined, inodesUsed: undefined };
/** The cgroup that holds all pods. */
const CONTAINER_OF_PODS = 'pods';
/** Go prints a zero time as the first second of year 1. */
const UNSET = Date.parse('0001-01-01T00:00:00Z');

/** Decodes the wire form of `Summary` (`k8s.io/kubelet/pkg/apis/stats/v1alpha1`). Absent fields stay absent. */
export function decodeSummary(raw: unknown): Decoded<Summary> {
  return decodeObject(raw, (summary) => ({
    readings: readPart(summary, 'node', readNode),
    pods: readList(summary, 'pods', readPod),
  }));
}

/** Reads one entry of the summary's `pods`. */
export function decodePodStats(raw: unknown): Decoded<PodUsage> {
  return decodeObject(raw, readPod);
}

function readNode(node: WireObject): NodeReadings {
  const system = readList(node, 'systemContainers', readSystemContainer);
  const runtime = readObject(node, 'runtime', readRuntime);
  return {
    memory: readObject(node, 'memory', readMemory),
    allocatableMemory: system.find(({ name }) => name === CONTAINER_OF_PODS)?.memory,
    nodeFilesystem: readObject(node, 'fs', readFilesystem),
    imageFilesystem: runtime?.imageFilesystem,
    containerFilesystem: runtime?.containerFilesystem,
    processes: readObject(node, 'rlimit', readProcesses),
  };
}

function readSystemContainer(container: WireObject) {
  return { name: readText(container, 'name'), memory: readObject(container, 'memory', readMemory) };
}

function readRuntime(runtime: WireObject) {
  return {
    imageFilesystem: readObject(runtime, 'imageFs', readFilesystem),
    containerFilesystem: readObject(runtime, 'containerFs', readFilesystem),
  };
}

function readMemory(memory: WireObject): MemoryReading {
  return {
    at: readTime(memory),
    availableBytes: readAvailable(memory),
    workingSetBytes: readCount(memory, 'workingSetBytes'),
  };
}

/** The kubelet subtracts unsigned numbers: what is below 0 arrives as nearly 2^64, and is no amount of memory. */
function readAvailable(memory: WireObject): number | undefined {
  const bytes = readCount(memory, 'availableBytes');
  return bytes !== undefined && bytes > Number.MAX_SAFE_INTEGER ? undefined : bytes;
}

function readFilesystem(filesystem: WireObject): FilesystemReading {
  return {
    at: readTime(filesystem),
    availableBytes: readCount(filesystem, 'availableBytes'),
    capacityBytes: readCount(filesystem, 'capacityBytes'),
    inodesFree: readCount(filesystem, 'inodesFree'),
    inodes: readCount(filesystem, 'inodes'),
  };
}

function readProcesses(limits: WireObject): ProcessReading {
  return { at: readTime(limits), maximum: readCount(limits, 'maxpid'), running: readCount(limits, 'curproc') };
}

function readPod(pod: WireObject): PodUsage {
  return {
    uid: readObject(pod, 'podRef', (reference) => readText(reference, 'uid')) ?? '',
    memory: readObject(pod, 'memory', readMemoryUsage),
    processCount: readObject(pod, 'process_stats', (processes) => readCount(processes, 'process_count')),
    cpuNanoCores: readObject(pod, 'cpu', (cpu) => readCount(cpu, 'usageNanoCores')),
    ephemeralStorageBytes: readObject(pod, 'ephemeral-storage', (storage) => readCount(storage, 'usedBytes')),
    containers: readList(pod, 'containers', readContainer),
    volumes: readList(pod, 'volume', readVolume),
  };
}

function readMemoryUsage(memory: WireObject): MemoryUsage {
  return { at: readTime(memory), workingSetBytes: readCount(memory, 'workingSetBytes') };
}

function readContainer(container: WireObject): ContainerUsage {
  return {
    name: readText(container, 'name') ?? '',
    workingSetBytes: readObject(container, 'memory', (memory) => readCount(memory, 'workingSetBytes')),
    rootfs: readObject(container, 'rootfs', readFilesystemUsage) ?? NO_FILESYSTEM,
    logs: readObject(container, 'logs', readFilesystemUsage) ?? NO_FILESYSTEM,
  };
}

function readVolume(volume: WireObject): VolumeUsage {
  return { name: readText(volume, 'name') ?? '', ...readFilesystemUsage(volume) };
}

function readFilesystemUsage(filesystem: WireObject): FilesystemUsage {
  return { usedBytes: readCount(filesystem, 'usedBytes'), inodesUsed: readCount(filesystem, 'inodesUsed') };
}

function readTime(reading: WireObject): Instant | undefined {
  const instant = readInstant(reading, 'time');
  return instant === UNSET ? undefined : instant;
}
